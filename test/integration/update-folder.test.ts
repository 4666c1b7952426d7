/** Updates in a folder that a stranger may write: what is copied has an end, and is what was signed. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { updateSource } from '../../agents/upkeep/update/source.ts';
import { sha256 } from '../../lib/host/files.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { payloadFiles } from '../../lib/payload/verify.ts';
import { testHost } from '../unit/agents/host/host.ts';
import { writePayload } from '../unit/agents/host/payload.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };

async function folderOf(t: Test) {
  const host = testHost(t, { programs: 'real' });
  writePayload(host, '/update/payload');
  host.write('/update/sno-agents', 'executable');
  const folder = host.at('/update');
  const payload = await readPayload(join(folder, 'payload'));
  const size = payloadFiles(payload).reduce((sum, file) => sum + file.size, 0);
  const description = join(folder, 'payload/payload.yaml');
  const source = updateSource(folder, {});
  const target = t.testdir();
  return {
    ...{ folder, description, target, first: payloadFiles(payload)[0]?.path ?? '' },
    signed: () => source.signed(join(target, 'work'), limits),
    executable: () => source.executable(join(target, 'sno-agents'), 10, limits),
    payload: (digest = sha256(readFileSync(description)), bytes = size) =>
      source.payload(join(target, 'payload'), { ...payload, size: bytes, sha256: digest }, limits),
  };
}

t.test('what is as it was signed is copied', async (t) => {
  const { executable, payload, target } = await folderOf(t);
  await executable();
  await payload();
  t.equal(readFileSync(join(target, 'sno-agents'), 'utf8'), 'executable');
  t.ok(existsSync(join(target, 'payload/payload.yaml')));
});

/** In place of a file, with what is said of it. */
const INSTEAD: readonly (readonly [what: string, put: (path: string) => void])[] = [
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
  ['a link', (path) => symlinkSync('/dev/zero', path)],
  ['a link to the file itself', (path) => symlinkSync(`${path}.kept`, path)],
  ['a folder', (path) => mkdirSync(path)],
  ['nothing', () => undefined],
  ['a larger file', (path) => writeFileSync(path, 'x'.repeat(100_000))],
  ['a smaller file', (path) => writeFileSync(path, '')],
];
for (const [what, put] of INSTEAD) {
  t.test(`${what} in place of a file is refused before anything is copied`, async (t) => {
    for (const name of ['sno-agents', 'payload/payload.yaml', 'first'] as const) {
      const update = await folderOf(t);
      const path = join(update.folder, name === 'first' ? `payload/${update.first}` : name);
      const digest = sha256(readFileSync(update.description));
      renameSync(path, `${path}.kept`);
      put(path);
      await t.rejects(
        name === 'sno-agents' ? update.executable() : update.payload(digest),
        { message: /cannot be used|not the file of the signed|damaged|not a regular|not contain/ },
        `${what}: ${name}`,
      );
      t.notOk(existsSync(join(update.target, 'sno-agents')));
      t.notOk(existsSync(join(update.target, 'payload')), `${what}: nothing of the payload`);
    }
  });
}

t.test('of what nobody has verified yet, only a little is read', async (t) => {
  for (const name of ['update.json', 'update.json.sig'] as const) {
    for (const [size, isRead] of [
      [65_536, true],
      [65_537, false],
    ] as const) {
      const { folder, signed } = await folderOf(t);
      for (const each of ['update.json', 'update.json.sig']) writeFileSync(join(folder, each), 'x');
      writeFileSync(join(folder, name), 'x'.repeat(size));
      if (isRead) await signed();
      else
        await t.rejects(signed(), { code: 'update-refused', details: { found: `${size} bytes` } });
    }
  }
});

t.test('a description may be larger than a manifest', async (t) => {
  const { payload, description, target } = await folderOf(t);
  appendFileSync(description, ' '.repeat(100_000));
  await payload();
  t.ok(existsSync(join(target, 'payload/payload.yaml')));
});

t.test('a description that was not signed is not followed', async (t) => {
  const { payload, description, target } = await folderOf(t);
  const digest = sha256(readFileSync(description));
  appendFileSync(description, '\n');
  await t.rejects(payload(digest), { code: 'update-refused' });
  await t.rejects(payload(undefined, 1), { message: /expected at most 1 bytes/ });
  t.notOk(existsSync(join(target, 'payload')));
});
