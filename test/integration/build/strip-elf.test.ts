import { readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import t from 'tap';
import { stripElf } from '../../../build/strip-elf.ts';

const SYMBOL_TABLE = 2;

/** The types of an ELF file's sections, and the bytes of those that are loaded. */
function sectionsOf(file: Buffer): { types: number[]; loaded: Buffer[]; names: Buffer } {
  const start = Number(file.readBigUInt64LE(0x28));
  const headers = Array.from({ length: file.readUInt16LE(0x3c) }, (_, index) =>
    file.subarray(start + index * 64, start + index * 64 + 64),
  );
  const bytes = (header: Buffer) => {
    const at = Number(header.readBigUInt64LE(24));
    return file.subarray(at, at + Number(header.readBigUInt64LE(32)));
  };
  const types = headers.map((header) => header.readUInt32LE(4));
  const loaded = headers.filter(
    (header) => (header.readBigUInt64LE(8) & 2n) !== 0n && header.readUInt32LE(4) !== 8,
  );
  const names = headers[file.readUInt16LE(0x3e)];
  return {
    types,
    loaded: loaded.map(bytes),
    names: names === undefined ? Buffer.alloc(0) : bytes(names),
  };
}

t.test('a stripped Node is smaller, runs, and keeps everything that is loaded', async (t) => {
  const whole = await readFile(process.execPath);
  const stripped = stripElf(whole);
  const [before, after] = [sectionsOf(whole), sectionsOf(stripped)];
  t.ok(before.types.includes(SYMBOL_TABLE), 'Node comes with symbols');
  t.notOk(after.types.includes(SYMBOL_TABLE));
  t.ok(stripped.length < whole.length * 0.9);
  t.equal(after.loaded.length, before.loaded.length);
  t.ok(after.loaded.every((bytes, index) => before.loaded[index]?.equals(bytes)));
  t.match(after.names.toString('latin1'), /\.text\0.*\.shstrtab\0$/s);

  const path = `${t.testdir({})}/node`;
  await writeFile(path, stripped, { mode: 0o755 });
  const { stdout } = await execa(path, ['-p', '6 * 7'], { timeout: 20_000 });
  t.equal(stdout, '42');
});

t.test('other kinds of files are refused', async (t) => {
  const elf = (await readFile(process.execPath)).subarray(0, 64);
  const others = {
    'a script': Buffer.from('#!/bin/sh\n'.repeat(10)),
    'a 32 bit file': Buffer.concat([Buffer.from(elf).fill(1, 4, 5), Buffer.alloc(10)]),
    'a big-endian file': Buffer.concat([Buffer.from(elf).fill(2, 5, 6), Buffer.alloc(10)]),
  };
  for (const [what, file] of Object.entries(others)) {
    t.throws(() => stripElf(file), /64-bit little-endian ELF/, what);
  }
});
