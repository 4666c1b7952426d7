/** The steps that ask the disk and its firmware. */
import './inspect-disk.ts';
