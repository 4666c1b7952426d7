/** A file that belongs to root. */
export interface SiteFile {
  path: string;
  mode: number;
  contents: string;
}

/** A drop-in of a unit, either the operating system's or ours. */
export interface SiteDropin {
  unit: string;
  name: string;
  contents: string;
}
