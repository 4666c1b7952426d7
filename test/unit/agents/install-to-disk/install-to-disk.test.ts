/** The steps of install-to-disk, each in a file of its own; those that ask the disk are in disk.test.ts. */
import './write-disk.ts';
import './copy-payload.ts';
import './ends.ts';
