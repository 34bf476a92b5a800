always @* assume (!(take_i && !free_o) && !(give_i && idle_o));
