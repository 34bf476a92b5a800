// The driver `sluice`.
#include "tools/cli/driver.h"

int main(int argc, char **argv) { return sluice::cli::runDriver(argc, argv); }
