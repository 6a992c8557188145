# What the checks of recorded switches have in common. Call with the command in $heddle.
die() {
  echo "$0: $*" >&2
  exit 1
}

# record TRACE PROGRAM …: the program's exit code. Ends the test where this kernel lets nobody see switches.
record() {
  recorded=$1
  shift
  code=0
  "$heddle" record --sched -o "$recorded" -- "$@" >"$recorded.said" 2>"$recorded.log" || code=$?
  if grep -q "perf_event" "$recorded.log"; then
    cat "$recorded.log"
    exit 77
  fi
  return $code
}

# total TRACE KIND NAME STATE ON FUNCTION: ns of such stretches; nothing, if there is no such row. FUNCTION is how the name begins.
total() {
  "$heddle" report --by sched --format csv "$1" 2>>"$1.log" | awk -F, -v kind="$2" -v name="$3" -v state="$4" -v on="$5" -v in_="$6" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["kind"] == kind && $at["name"] == name && $at["state"] == state && $at["on"] == on &&
      (in_ == "" || index($at["function"], in_) == 1) { sum += $at["total_ns"]; found = 1 }
    END { if (found) printf "%d", sum }'
}

# at_least NS TRACE KIND NAME STATE ON FUNCTION
at_least() {
  least=$1
  shift
  found=$(total "$@")
  [ -n "$found" ] || die "no row of: $*: $("$heddle" report --by sched "$1" 2>&1)"
  [ "$found" -ge "$least" ] || die "$found ns, not $least, of: $*"
}
