#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let the fuzzers in a folder run one after the other. usage: fuzz.sh FOLDER
# SECONDS TARGET...
#
# FOLDER/found/TARGET	inputs that reach something new; kept for the next run
# FOLDER/crashes	what ended a fuzzer
# FOLDER/corpus/TARGET	as few inputs as reach all that corpus/ and found/ do
# FOLDER/TARGET.log	what the fuzzer said

out=$1
seconds=$2
shift 2
passed=0 failed=0

figure() {
	sed -n "s/^stat::$1: *//p" "$2"
}

mkdir -p "$out/crashes"
for target; do
	log=$out/$target.log
	mkdir -p "$out/found/$target"
	if "$out/fuzz-$target" -max_total_time="$seconds" -max_len=1024 \
			-timeout=20 -print_final_stats=1 -verbosity=1 \
			-artifact_prefix="$out/crashes/$target-" \
			"$out/found/$target" "corpus/$target" >"$log" 2>&1; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - fuzz__$target"
	else
		failed=$((failed + 1))
		tail -n 40 "$log" | sed 's/^/# /'
		echo "not ok $((passed + failed)) - fuzz__$target"
	fi
	echo "# $(figure number_of_executed_units "$log") executions," \
		"$(sed -n 's/^# \([0-9]* packets\)/\1/p' "$log")"

	rm -rf "$out/corpus/$target"
	mkdir -p "$out/corpus/$target"
	"$out/fuzz-$target" -set_cover_merge=1 "$out/corpus/$target" "corpus/$target" \
		"$out/found/$target" >>"$log" 2>&1
	find "$out/corpus/$target" -type f | wc -l | sed 's/^/# inputs kept: /'
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
