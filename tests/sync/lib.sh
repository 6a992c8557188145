# What the checks of recorded waits have in common. Call with the command in $heddle, and failures told by die.
die() {
  echo "$0: $*" >&2
  exit 1
}

# field TRACE KIND NAME COLUMN: what `heddle report --by lock` has there; nothing, if there is no such row.
field() {
  "$heddle" report --by lock --format csv "$1" 2>>"$1.log" | awk -F, -v kind="$2" -v name="$3" -v column="$4" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["kind"] == kind && $at["name"] == name { print $at[column] }'
}

# value TRACE NAME KEY: what `heddle advise --json` has there of the lock of that name.
value() {
  "$heddle" advise --json "$1" 2>>"$1.log" | awk -v name="\"$2\"," -v key="\"$3\":" '
    /^    \{/ { found = ""; mine = 0 }
    $1 == key { found = $2 }
    $1 == "\"name\":" && $2 == name { mine = 1 }
    /^    \}/ && mine { sub(/,$/, "", found); gsub(/"/, "", found); print found; exit }'
}

# expect WHAT FOUND OPERATOR EXPECTED
expect() {
  [ -n "$2" ] || die "$1: not found"
  [ "$2" "$3" "$4" ] || die "$1 is $2, not $3 $4"
}
