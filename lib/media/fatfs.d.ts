/** The part of fatfs that is used: it has no types of its own. */
declare module 'fatfs' {
  interface Volume {
    readonly sectorSize: number;
    readonly numSectors: number;
    readSectors(first: number, target: Buffer, done: (error: Error | null) => void): void;
    writeSectors(first: number, data: Buffer, done: (error: Error | null) => void): void;
  }
  type Callback<T> = (error: Error | null, result: T) => void;
  interface FileSystem {
    readdir(path: string, done: Callback<string[]>): void;
    stat(path: string, done: Callback<{ readonly size: number }>): void;
    readFile(path: string, done: Callback<Buffer>): void;
    open(path: string, flags: 'r+', done: Callback<number>): void;
    write(
      file: number,
      data: Buffer,
      from: number,
      bytes: number,
      position: number,
      done: Callback<number>,
    ): void;
  }
  /** `ready` is called once the first sector has been read. */
  export function createFileSystem(
    volume: Volume,
    options: { readonly ro: boolean },
    ready: (error: Error | null) => void,
  ): FileSystem;
}
