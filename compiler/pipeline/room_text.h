// What a message says about targets with room for a model.
#pragma once

#include "compiler/pipeline/room.h"

namespace sluice::pipeline {

/// Adds what was found to the problems of a model that does not fit: the fixes to each, in front
/// of the others, and to the last one a note if nothing was found or the time of the search ended.
void addRoom(const Room &room, unsigned seconds, Problems &problems);

} // namespace sluice::pipeline
