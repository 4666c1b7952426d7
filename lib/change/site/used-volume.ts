/** A volume that this node has used, or has begun to. */
export interface UsedVolume {
  readonly serial: number;
  /** Of site-volume.json, which has the digest of every other file. */
  readonly sha256: string;
}
