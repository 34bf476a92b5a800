# Sourced by the scripts: one line for each phase, and how long the last one took.
#
#   phase "building the compiler"    begins a phase, and ends the one before
#   phases_done                      ends the last one and prints the table of all
phase_name="" phase_began=0 phase_table=""

phase_end() {
  [[ -n $phase_name ]] || return 0
  local took=$((SECONDS - phase_began))
  phase_table+=$(printf '  %-34s %3d:%02d' "$phase_name" $((took / 60)) $((took % 60)))$'\n'
  phase_name=""
}

phase() {
  phase_end
  phase_name=$1 phase_began=$SECONDS
  printf '\n==> %s\n' "$1"
}

phases_done() {
  phase_end
  printf '\ntime, minutes:seconds\n%s  %-34s %3d:%02d\n' "$phase_table" total $((SECONDS / 60)) $((SECONDS % 60))
}
