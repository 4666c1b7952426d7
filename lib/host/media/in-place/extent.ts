/** A run of bytes on a device. */
export interface Extent {
  readonly offset: number;
  readonly bytes: number;
}
