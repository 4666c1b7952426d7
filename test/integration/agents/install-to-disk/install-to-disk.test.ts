/** The steps of install-to-disk, one file each; those that inspect the disk are in disk.test.ts. */
import './write-disk.ts';
import './copy-payload.ts';
import './ends.ts';
