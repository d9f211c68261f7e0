# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Copies what a project of others has left in its results, as root, to a directory
# whose files others read, or publish.

# Copies the files and directories in FROM to TO, and the links that lead to these.
# A link to elsewhere would show a file of this machine; a device node would be one
# of it, a setuid program would run on it. Nobody writes to FROM meanwhile.
results_keep() {
	local from=$1 to=$2 at

	from=$(realpath "$from")
	while IFS= read -r -d '' at; do
		say "not kept, as it is no file: ${at#"$from/"}"
		rm -f "$at"
	done < <(find "$from" ! -type f ! -type d ! -type l -print0)
	while IFS= read -r -d '' at; do
		results_link_stays "$from" "$at" || {
			say "not kept, a link to elsewhere: ${at#"$from/"}"
			rm "$at"
		}
	done < <(find "$from" -type l -print0)
	find "$from" -type f -perm /7000 -exec chmod ug-s,-t {} +
	cp -a --remove-destination "$from/." "$to"
}

# True for a link that leads to something in FROM wherever that is.
results_link_stays() {
	[[ $(readlink "$2") != /* && $(realpath -m "$2") == "$1"/* ]]
}
