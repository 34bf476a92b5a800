#!/bin/sh
# Lints every module of hw/rtl: verilator -Wall must give no warning, and yosys must find no
# latches, combinational loops or conflicting drivers (check -assert).
#
# usage: tools/lint_rtl.sh [ISA_PKG.sv]
#   ISA_PKG.sv  the generated package of the instruction set (generated if not given)
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
package=$folder/isa_pkg.sv
if [ $# -eq 0 ]; then
  python3 "$root/tools/gen_isa.py" "$root/hw/isa/isa.json" --sv "$package" || exit 1
else
  cp "$1" "$package" || exit 1
fi

# Relative names: the path of the checkout may have a space.
cd "$root/hw/rtl" || exit 1
packages="$package $(ls ./*_pkg.sv)"
modules=$(ls ./*.sv cells/*.sv | grep -v '_pkg\.sv$')
failed=0

# Package constants and the fields of shared structs are not all used by one module.
for file in $modules; do
  module=$(basename "$file" .sv)
  if ! verilator --lint-only -Wall -Wno-UNUSED -Wno-DECLFILENAME -fno-const-bit-op-tree \
      -I. -Icells $packages "$file" --top-module "$module" > "$folder/log" 2>&1; then
    echo "verilator: $module"
    cat "$folder/log"
    failed=1
  fi
done

# The smallest machine, with the default stages, and with as few and as many as a target may set.
stages() { # of the bound least or most, each behind the text $2 and before the text $3
  python3 - "$root/hw/isa/isa.json" "$@" <<'EOF'
import json
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    stages = [one for one in json.load(file)["latencies"] if "least" in one]
print(*(f"{sys.argv[3]}{one['name'].title().replace('_', '')}{sys.argv[4]}{one[sys.argv[2]]}" for one in stages))
EOF
}
for bound in value least most; do
  if ! verilator --lint-only -Wall -Wno-UNUSED -Wno-DECLFILENAME -fno-const-bit-op-tree \
      -I. -Icells $packages $modules --top-module sluice_top -GCores=1 -GLanes=4 -GPeTerms=4 \
      $(stages $bound -G =) > "$folder/log" 2>&1; then
    echo "verilator: sluice_top with one core of four lanes, stages: $bound"
    cat "$folder/log"
    failed=1
  fi
done

# yosys 0.23 takes an unpacked array of structs for one struct, without a word.
if grep -nE '^ *([a-z_]+::)?[a-z_]+_t +[a-z0-9_]+ *\[' $modules; then
  echo "error: yosys does not support unpacked arrays of structs"
  failed=1
fi

# One run elaborates all modules with their default parameters. Where yosys 0.23 does not
# know a name, as of a struct declared in a block or in a generate loop, it makes one up.
if ! yosys -q -e "implicitly declared" -e "out of bounds" -p "read_verilog -sv -I. $packages $(echo "$modules" | tr '\n' ' '); hierarchy -check; \
    proc; select -assert-none t:\$dlatch t:\$adlatch t:\$dlatchsr; opt_clean; check -assert" \
    > "$folder/log" 2>&1; then
  echo "yosys:"
  cat "$folder/log"
  failed=1
fi

for bound in least most; do
  if ! yosys -q -e "implicitly declared" -e "out of bounds" -p "read_verilog -sv -I. $packages $(echo "$modules" | tr '\n' ' '); \
      chparam -set Cores 1 -set Lanes 4 -set PeTerms 4 $(stages $bound "-set " " ") sluice_top; hierarchy -check -top sluice_top; \
      proc; select -assert-none t:\$dlatch t:\$adlatch t:\$dlatchsr; opt_clean; check -assert" \
      > "$folder/log" 2>&1; then
    echo "yosys: stages: $bound"
    cat "$folder/log"
    failed=1
  fi
done

# The cells of a part, with the primitives that yosys knows. The tests that build them have no
# warnings of verilator either.
for cells in cells/*/; do
  part=$(basename "$cells")
  for file in "$cells"*.sv; do
    if ! yosys -q -e "implicitly declared" -e "out of bounds" -p "read_verilog -lib +/$part/cells_bb.v +/$part/cells_sim.v; \
        read_verilog -sv -I. $(ls "$cells"*.sv | tr '\n' ' '); hierarchy -check -top $(basename "$file" .sv); \
        proc; opt_clean; check -assert" > "$folder/log" 2>&1; then
      echo "yosys: $file"
      cat "$folder/log"
      failed=1
    fi
  done
done

# Both tools must reject a parameter with a wrong value.
if verilator --lint-only -I. fifo_pointers.sv -GDepth=6 > "$folder/log" 2>&1 ||
    ! grep -q "a parameter has a wrong value" "$folder/log"; then
  echo "error: verilator accepts fifo_pointers with Depth 6, allowed: powers of two"
  failed=1
fi
if yosys -q -p "read_verilog -sv -I. fifo_pointers.sv; chparam -set Depth 6 fifo_pointers; \
    hierarchy -check -top fifo_pointers" > "$folder/log" 2>&1 ||
    ! grep -q "a parameter has a wrong value" "$folder/log"; then
  echo "error: yosys accepts fifo_pointers with Depth 6, allowed: powers of two"
  failed=1
fi
exit $failed
