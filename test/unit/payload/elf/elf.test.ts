import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readProgram } from '../../../../lib/payload/elf/elf.ts';
import { ARM64, type ProgramOptions, programBytes } from './program.ts';

const kubernetes = 'path\tk8s.io/kubernetes/cmd/kubelet\nmod\tk8s.io/kubernetes\tv1.34.4\th1:x=\n';
const long = `${kubernetes}${'dep\tx\tv1.0.0\n'.repeat(2000)}`;

const programs: readonly { name: string; options: ProgramOptions; found: object }[] = [
  { name: 'static', options: {}, found: { architecture: 'amd64', isStatic: true } },
  { name: 'dynamic', options: { isDynamic: true }, found: { isStatic: false } },
  { name: 'arm64', options: { machine: ARM64 }, found: { architecture: 'arm64' } },
  { name: 'position-independent', options: { type: 3 }, found: { isStatic: true } },
  {
    name: 'of Go',
    options: { modules: kubernetes },
    found: { module: { path: 'k8s.io/kubernetes', version: 'v1.34.4' } },
  },
  {
    name: 'of many modules',
    options: { modules: long },
    found: { module: { version: 'v1.34.4' } },
  },
  { name: 'of Go, no version', options: { modules: 'mod\tx\t(devel)\t\n' }, found: {} },
];

t.test("facts in programs' headers", async (t) => {
  const path = join(t.testdir(), 'program');
  for (const { name, options, found } of programs) {
    writeFileSync(path, programBytes(options));
    const program = await readProgram(path, 'p');
    t.match(program, found, name);
    t.equal('module' in program, 'module' in found, name);
  }
  t.match(await readProgram(process.execPath, 'node'), { isStatic: false }, 'a real one');
});

/** A program with some bytes replaced. */
function changed(at: number, ...bytes: number[]): Buffer {
  const program = programBytes();
  program.set(bytes, at);
  return program;
}

const refused: readonly [name: string, bytes: Buffer, error: RegExp][] = [
  ['empty', Buffer.alloc(0), /not an ELF file/],
  ['a script', Buffer.from(`#!/bin/sh\n${'x'.repeat(100)}`), /not an ELF file/],
  ['only a header', programBytes().subarray(0, 40), /not an ELF file/],
  ['32 bits', changed(4, 1), /32-bit/],
  ['big-endian', changed(5, 2), /big-endian/],
  ['an object', programBytes({ type: 1 }), /cannot be run/],
  ['a core', programBytes({ type: 4 }), /cannot be run/],
  ['no entry point', changed(24, 0, 0, 0, 0), /entry point/],
  ['s390x', programBytes({ machine: 0x16 }), /machine type 22/],
  ['cut', programBytes().subarray(0, 100), /truncated file/],
  ['a huge table', changed(56, 0xff, 0xff), /table of 65535/],
  ['a table far away', changed(40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), /truncated file/],
];

t.test('files that are not programs are refused, with the reason', async (t) => {
  const path = join(t.testdir(), 'file');
  for (const [name, bytes, error] of refused) {
    writeFileSync(path, bytes);
    await t.rejects(readProgram(path, 'kubelet'), error, name);
    await t.rejects(readProgram(path, 'kubelet'), { kind: 'usage', message: /^kubelet is not/ });
  }
});

t.test('a FIFO is not waited for', async (t) => {
  const path = join(t.testdir(), 'fifo');
  execFileSync('mkfifo', [path]);
  await t.rejects(readProgram(path, 'kubelet'), { message: /not a regular file/ });
});
