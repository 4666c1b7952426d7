/** The steps that inspect the disk and its firmware. */
import './inspect-disk.ts';
