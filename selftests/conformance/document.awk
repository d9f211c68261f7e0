# SPDX-License-Identifier: GPL-2.0
#
# One row of Documentation/conformance.md for each case: first the results
# ("A1 engine pass"), then the scripts.

FILENAME ~ /results$/ {
	if ($0 !~ /^#/)
		result[$1, $2] = $3
	next
}

FNR == 1 {
	flush()
	id = FILENAME
	sub(/.*\//, "", id)
	sub(/\.case$/, "", id)
	gsub(/-/, ".", id)
	in_header = 1
}

!/^#/ {
	in_header = 0
}

in_header && /^# [a-z]+: / {
	key = $2
	sub(/:$/, "", key)
	text = $0
	sub(/^# [a-z]+: */, "", text)
	header[key] = header[key] (header[key] ? " " : "") text
}

END {
	flush()
}

function shown(end,	r) {
	r = result[id, end]
	return r ? r : "–"
}

function flush(	rxe, key) {
	if (!id)
		return
	rxe = shown("rxe")
	if (header["rxe"])
		rxe = rxe "; " header["rxe"]
	printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", id,
	       header["case"], header["does"],
	       header["where"] ? header["where"] : "–",
	       header["also"] ? header["also"] : "–", shown("engine"),
	       shown("module"), rxe)
	for (key in header)
		delete header[key]
}
