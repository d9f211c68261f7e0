# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The libibverbs of this machine, and the source that it was built from: a
# provider needs headers of it that no package has.

# The library of this machine that the provider is for.
libibverbs() {
	ldconfig -p | awk '$1 == "libibverbs.so.1" && !n++ { print $NF }'
}

# The folders where the library $1 looks for the names of providers, and for
# these, as it says itself.
names_folder() {
	LC_ALL=C grep -ao '/[[:graph:]]*/libibverbs\.d' "$1" | head -n 1
}

providers_folder() {
	LC_ALL=C grep -ao '/[[:graph:]]*/lib%s-rdmav' "$1" |
		sed 's|/lib%s.*||' | head -n 1
}

# The private ABI of that library: providers and library must agree on it.
private_abi() {
	grep -ao 'IBVERBS_PRIVATE_[0-9]*' "$1" | sed 's/.*_//' | sort -un |
		tail -n 1
}

# The release of the library $1, whose file is called libibverbs.so.1.14.56.1: the
# last two of these numbers.
library_release() {
	readlink -f "$1" | sed 's/.*\.so\.1\.[0-9]*\.//'
}

# The rdma-core sources that the guest bench or this script have unpacked and
# that have this line in their CMakeLists.txt: set($1 "$2").
find_source() {
	local dir

	for dir in "$CACHE"/src/rdma-core-*; do
		[[ $dir != *.partial ]] || continue
		! grep -qsF "set($1 \"$2\")" "$dir/CMakeLists.txt" ||
			echo "$dir"
	done | tail -n 1
}

# "no" where apt of this machine takes lists that are past their date, as those of a
# snapshot are.
valid_until() {
	case $(apt-config shell check Acquire::Check-Valid-Until/b) in
	*false*)	echo no ;;
	*)		echo yes ;;
	esac
}

# Lines of package sources with "deb-src" for what this machine gets packages
# of its distribution from.
source_lines() {
	local origin rest options key

	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets 'Created-By: Packages' --format \
		$'$(ORIGIN)\t$(REPO_URI) $(RELEASE) $(COMPONENT)' | sort -u |
		while IFS=$'\t' read -r origin rest; do
			case $origin in
			Debian|"Debian Backports"|Ubuntu) ;;
			*)	continue ;;
			esac
			options="check-valid-until=$(valid_until)"
			origin=${origin%% *}
			key=/usr/share/keyrings/${origin,,}-archive-keyring.gpg
			[ ! -e "$key" ] || options+=" signed-by=$key"
			echo "deb-src [$options] $rest"
		done
}

# Where apt gets the source that the installed library was built from: URI, name
# and hash of the upstream part. An older one than the library may be all there
# is, or a newer one. Arguments: CONFIGURATION
find_upstream() {
	local version

	version=$(dpkg-query -Wf '${source:Version}' libibverbs1 2>/dev/null) ||
		true
	{
		APT_CONFIG=$1 apt-get --print-uris source \
			"rdma-core${version:+=$version}" ||
			APT_CONFIG=$1 apt-get --print-uris source rdma-core
	} 2>/dev/null | tr -d \' |
		awk '/\.orig\.tar/ && !n++ { print $1, $2, $4 }'
}

# Downloads the source of this machine's rdma-core, by apt with the package
# sources of its distribution and lists of its own. Only the upstream part is needed.
fetch_source() {
	local apt uri file hash part

	command -v apt-get >/dev/null || return 0
	apt=$(mktemp -d)
	RUBBISH+=("$apt")
	mkdir -p "$apt/lists/partial"
	cache_make log
	source_lines >"$apt/sources"
	[ -s "$apt/sources" ] || {
		say "apt knows of no packages of Debian or Ubuntu:" \
			"apt-get update"
		return 0
	}
	cat >"$apt/conf" <<-END
		Dir::Etc::SourceList "$apt/sources";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$apt/lists";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
	END
	(run_logged "$CACHE/log/apt-source" "looking for the source of rdma-core" \
		env APT_CONFIG="$apt/conf" apt-get update) || {
		say "apt cannot read the lists of sources"
		return 0
	}
	read -r uri file hash < <(find_upstream "$apt/conf") || {
		say "apt finds no source of rdma-core"
		sed -n 's/^[EW]: F/  F/p' "$CACHE/log/apt-source" >&2
		return 0
	}
	file=${file#rdma-core_}
	part=$CACHE/src/rdma-core-${file%.orig*}
	rm -rf --one-file-system "$part.partial"
	mkdir "$part.partial"
	RUBBISH+=("$part.partial")
	/usr/lib/apt/apt-helper download-file "$uri" "$apt/orig" "$hash" >&2 &&
		tar -xf "$apt/orig" -C "$part.partial" --strip-components=1 &&
		mv -T "$part.partial" "$part" || true
}

# How its source is fetched by hand.
how_to_get_source() {
	if command -v apt-get >/dev/null; then
		echo "apt-get source rdma-core fetches it, with deb-src in the" \
			"package sources"
	elif command -v dnf >/dev/null; then
		echo "dnf download --source rdma-core fetches a package that" \
			"has it"
	elif command -v zypper >/dev/null; then
		echo "zypper source-install rdma-core fetches a package that" \
			"has it"
	else
		echo "https://github.com/linux-rdma/rdma-core has it, with a" \
			"tag for each release"
	fi
}

# Sets RDMA_CORE_SRC: what the user says; the source that the library $1 was
# built from; or another one with its private ABI, for which provider/headers.sh
# wants the headers that programs are built with.
need_source() {
	local pabi release

	[ -z "${RDMA_CORE_SRC:-}" ] || {
		RDMA_CORE_SRC=$(readlink -m "$RDMA_CORE_SRC")
		[ -e "$RDMA_CORE_SRC/libibverbs/driver.h" ] ||
			die "RDMA_CORE_SRC=$RDMA_CORE_SRC: no source of" \
				"rdma-core is there"
		return 0
	}
	pabi=$(private_abi "$1")
	release=$(library_release "$1")
	source_lock -s
	RDMA_CORE_SRC=$(find_source PACKAGE_VERSION "$release")
	if [ -z "$RDMA_CORE_SRC" ]; then
		source_lock -x
		# Another script may have fetched it meanwhile.
		RDMA_CORE_SRC=$(find_source PACKAGE_VERSION "$release")
		[ -n "$RDMA_CORE_SRC" ] || fetch_source
		RDMA_CORE_SRC=$(find_source PACKAGE_VERSION "$release")
		source_lock -s
	fi
	[ -n "$RDMA_CORE_SRC" ] ||
		RDMA_CORE_SRC=$(find_source IBVERBS_PABI_VERSION "$pabi")
	[ -n "$RDMA_CORE_SRC" ] || die "the provider is built with headers" \
		"that no package has, but the source of rdma-core $release:" \
		"$(how_to_get_source); unpack it, and name the directory:" \
		"RDMA_CORE_SRC=..."
	say "the provider is built with $RDMA_CORE_SRC"
}
