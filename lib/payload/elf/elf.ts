import { type FileHandle, open, stat } from 'node:fs/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { Architecture } from '../../host/architecture.ts';
import { type GoBuildInfo, parseBuildInfo } from './go-build-info.ts';

export interface Program extends GoBuildInfo {
  architecture: Architecture;
  /** Needs no loader and no libraries. */
  isStatic: boolean;
}

const HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const SECTION_HEADER_BYTES = 64;
/** Real programs have about ten segments and forty sections; no more are read. */
const MAX_TABLE_ROWS = 1024;
const MAX_STRINGS_BYTES = 1 << 16;
const MAX_BUILD_INFO_BYTES = 1 << 20;

const EXECUTABLE_TYPES = [2, 3];
const PT_INTERP = 3;
const MACHINES: Readonly<Record<number, Architecture>> = { 62: 'amd64', 183: 'arm64' };

const isElf = (start: Uint8Array): boolean =>
  Buffer.from(start.subarray(0, 4)).toString('latin1') === '\x7fELF';

/** Whether a file begins like a program. @throws Failure (usage) for anything but a regular file. */
export async function startsLikeElf(path: string): Promise<boolean> {
  await using file = await openRegular(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
  return isElf(buffer.subarray(0, bytesRead));
}

/** A FIFO would be waited for. @throws Failure (usage) */
async function openRegular(path: string): Promise<FileHandle> {
  if (!(await stat(path)).isFile()) throw new Failure('usage', 'not a regular file');
  return open(path);
}

/**
 * Parses the headers of a 64-bit ELF program (`man 5 elf`). The program is not run,
 * and only a bounded part of it is read. `name` is its name in errors. @throws
 * Failure (usage) if it is not a Linux program of a known architecture
 */
export async function readProgram(path: string, name: string): Promise<Program> {
  await using file = await openRegular(path);
  const header = await readAt(file, 0, HEADER_BYTES);
  const architecture = MACHINES[header.length < HEADER_BYTES ? 0 : header.readUInt16LE(18)];
  const fault = faultOf(header, architecture);
  if (fault !== undefined || architecture === undefined) throw notAProgram(name, fault ?? '');
  const segments = await readTable(file, name, {
    offset: header.readBigUInt64LE(32),
    rows: header.readUInt16LE(56),
    rowBytes: PROGRAM_HEADER_BYTES,
  });
  const isStatic = !segments.some((segment) => segment.readUInt32LE(0) === PT_INTERP);
  return { architecture, isStatic, ...parseBuildInfo(await readBuildInfo(file, header, name)) };
}

function faultOf(header: Buffer, architecture: Architecture | undefined): string | undefined {
  if (!isElf(header) || header.length < HEADER_BYTES) return 'not an ELF file';
  if (header[4] !== 2 || header[5] !== 1) return 'a 32-bit or big-endian program';
  if (!EXECUTABLE_TYPES.includes(header.readUInt16LE(16))) return 'an object that cannot be run';
  if (header.readBigUInt64LE(24) === 0n) return 'a library without an entry point';
  if (architecture === undefined) return `machine type ${header.readUInt16LE(18)}`;
  return undefined;
}

interface Table {
  offset: bigint;
  rows: number;
  rowBytes: number;
}

async function readTable(
  file: FileHandle,
  name: string,
  { offset, rows, rowBytes }: Table,
): Promise<Buffer[]> {
  if (rows > MAX_TABLE_ROWS) throw notAProgram(name, `a table of ${rows} headers`);
  const table = await readAt(file, offset, rows * rowBytes);
  if (table.length < rows * rowBytes) throw notAProgram(name, 'a truncated file');
  return Array.from({ length: rows }, (_, row) =>
    table.subarray(row * rowBytes, (row + 1) * rowBytes),
  );
}

/** The section where Go's linker stores module versions; empty if there is none. */
async function readBuildInfo(file: FileHandle, header: Buffer, name: string): Promise<Buffer> {
  const sections = await readTable(file, name, {
    offset: header.readBigUInt64LE(40),
    rows: header.readUInt16LE(60),
    rowBytes: SECTION_HEADER_BYTES,
  });
  const contents = (section: Buffer | undefined, limit: number) =>
    section === undefined
      ? Buffer.alloc(0)
      : readAt(file, section.readBigUInt64LE(24), smaller(section.readBigUInt64LE(32), limit));
  const names = await contents(sections[header.readUInt16LE(62)], MAX_STRINGS_BYTES);
  const wanted = sections.find((section) => {
    const start = section.readUInt32LE(0);
    return names.subarray(start, start + 14).toString('latin1') === '.go.buildinfo\0';
  });
  return contents(wanted, MAX_BUILD_INFO_BYTES);
}

const smaller = (size: bigint, limit: number) => (size > BigInt(limit) ? limit : Number(size));

/** Returns fewer bytes at the end of the file. */
async function readAt(file: FileHandle, offset: number | bigint, length: number): Promise<Buffer> {
  const { size } = await file.stat();
  if (offset > size) return Buffer.alloc(0);
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, Number(offset) + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function notAProgram(name: string, found: string): Failure {
  return new Failure('usage', `${name} is not a Linux program for amd64 or arm64`, {
    expected: 'a 64-bit ELF executable',
    found,
  });
}
