/** The steps of install-to-disk, each in a file of its own: one process starts for all. */
import './write-disk.ts';
import './copy-payload.ts';
import './inspect-disk.ts';
import './ends.ts';
