-- Finds exchanges of a program by the time they began, to recognize sessions that it has copied.
CREATE INDEX exchanges_by_start ON exchanges (program, started) WHERE program IS NOT NULL;
