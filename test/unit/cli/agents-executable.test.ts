import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import {
  describeExecutable,
  executablePath,
  requireSameArchitecture,
} from '../../../cli/agents-executable.ts';
import { executableMark, MARK } from '../../../lib/engine/agents/executable-mark.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { ARM64, programBytes } from '../payload/elf/program.ts';
import { agentsExecutable } from './agents-executable.ts';

const { signal } = new AbortController();

t.test('facts of an executable, whose mark may be anywhere', async (t) => {
  const far = Buffer.concat([
    programBytes({ machine: ARM64 }),
    // Makes the mark span two pieces that are read separately.
    Buffer.alloc((1 << 20) - programBytes().length - 20),
    Buffer.from(executableMark('1.2.3+4567-dirty')),
  ]);
  const dir = t.testdir({ near: agentsExecutable(), far });
  const near = await describeExecutable(join(dir, 'near'), {}, signal);
  t.same(near, {
    sha256: sha256(agentsExecutable()),
    architecture: 'amd64',
    version: '0.1.0+test',
  });
  const other = await describeExecutable(join(dir, 'far'), {}, signal);
  t.same(other, { sha256: sha256(far), architecture: 'arm64', version: '1.2.3+4567-dirty' });
});

t.test('the option takes precedence over the variable', async (t) => {
  const environment = { SNO_AGENTS_EXECUTABLE: '/b' };
  t.equal(executablePath('/a', environment), '/a');
  t.equal(executablePath(undefined, environment), '/b');
  t.throws(() => executablePath(undefined, { SNO_AGENTS_EXECUTABLE: '' }), {
    kind: 'usage',
    message: /--agents-executable or in SNO_AGENTS_EXECUTABLE/,
  });
});

const source = join(import.meta.dirname, '../../../lib/engine/agents/executable-mark.ts');
const REFUSED: readonly {
  name: string;
  contents?: string | Buffer;
  path?: string;
  says: RegExp;
}[] = [
  {
    name: 'a text',
    contents: 'not really',
    says: /not a Linux program.*found not an ELF file/,
  },
  { name: 'nothing', contents: '', says: /not a Linux program/ },
  { name: 'another program', contents: programBytes(), says: /is not a sno-agents executable/ },
  {
    name: 'sno itself, which has the code that looks for the mark',
    contents: Buffer.concat([programBytes(), Buffer.from(String(MARK))]),
    says: /is not a sno-agents executable/,
  },
  { name: 'the source', path: source, says: /not a Linux program/ },
  { name: 'a mark alone', contents: executableMark('0.1.0'), says: /not a Linux program/ },
  { name: 'a missing file', path: '/nowhere', says: /\/nowhere cannot be read.*no such file/ },
  { name: 'a device', path: '/dev/null', says: /\/dev\/null is not a regular file.*a device/ },
  { name: 'a folder', path: '/etc', says: /\/etc is not a regular file.*a folder/ },
];
for (const { name, contents, path, says } of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const dir = t.testdir(contents === undefined ? {} : { it: contents });
    await t.rejects(describeExecutable(path ?? join(dir, 'it'), {}, signal), {
      kind: 'usage',
      message: says,
    });
  });
}

t.test('refused: a FIFO, without waiting for a writer', async (t) => {
  const path = join(t.testdir(), 'fifo');
  execFileSync('mkfifo', [path]);
  await t.rejects(describeExecutable(path, {}, signal), { message: /not a regular file.*a FIFO/ });
});

t.test('executable and payload are for the same hosts', async (t) => {
  const payload = { architecture: 'arm64', directory: '/payload' } as const;
  requireSameArchitecture({ architecture: 'arm64' }, payload);
  t.throws(() => requireSameArchitecture({ architecture: 'amd64' }, payload), {
    kind: 'usage',
    message:
      /expected sno-agents for arm64, as the payload in \/payload; found sno-agents for amd64/,
  });
});
