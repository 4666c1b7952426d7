/** Of the moments that are left out, each leaves the host as one that is looked at. */
import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  removeFile,
  syncDirectory,
  writeFileAtomic,
  writeFilesAtomic,
} from '../../../../lib/host/files.ts';
import { dying } from './killed-at-any-moment.ts';
import { differentMoments, type Moment } from './moments.ts';

type Body = (folder: string) => Promise<unknown>;

/** Names, modes and contents; of files beside their targets, only whether there are any. */
function stateOf(folder: string): string {
  const paths = globSync('**/{*,.*}', { cwd: folder }).toSorted();
  const beside = /\/?\.[^/]+\.new$/;
  const states = paths
    .filter((path) => !beside.test(path))
    .map((path) => {
      const found = lstatSync(join(folder, path));
      const contents = found.isFile()
        ? readFileSync(join(folder, path), 'utf8')
        : found.isSymbolicLink()
          ? readlinkSync(join(folder, path))
          : '';
      return `${path} ${found.mode.toString(8)} ${contents}`;
    });
  return [...states, ...(paths.some((path) => beside.test(path)) ? ['left over'] : [])].join('\n');
}

/** The state after a death at that moment. */
async function stateAfter(t: Test, body: Body, { at, losesPower }: Moment): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sno-moments-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'old'), 'as before');
  mkdirSync(join(folder, 'there'));
  await dying(at, losesPower, () => body(folder));
  return stateOf(folder);
}

const contents = 'a';
const bodies: Readonly<Record<string, Body>> = {
  'atomic files, of which two are new': (folder) =>
    writeFilesAtomic(
      ['old', 'there/b', 'new/c'].map((name) => ({
        path: join(folder, name),
        contents,
        mode: 0o600,
      })),
    ),
  'one after the other, and a removal': async (folder) => {
    await writeFileAtomic(join(folder, 'a'), contents, 0o644);
    await removeFile(join(folder, 'old'));
    await symlink('a', join(folder, 'link'));
    await writeFileAtomic(join(folder, 'there/a'), contents, 0o644);
  },
  'a rename before the sync': async (folder) => {
    await using file = await open(join(folder, '.a.new'), 'w');
    await file.writeFile(contents);
    await rename(join(folder, '.a.new'), join(folder, 'a'));
    await syncDirectory(folder);
    await file.sync();
    await rm(join(folder, 'old'));
  },
  'in place, and without a sync of the folder': async (folder) => {
    await using file = await open(join(folder, 'old'), 'w');
    await file.writeFile(contents);
    await using other = await open(join(folder, 'other'), 'w', 0o600);
    await other.writeFile(contents);
    await file.sync();
    await other.chmod(0o644);
    await mkdir(join(folder, 'made/in'), { recursive: true });
    await rename(join(folder, 'other'), join(folder, 'made/in/other'));
  },
};

for (const [what, body] of Object.entries(bodies)) {
  t.test(`${what}: no state is left out`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sno-moments-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'old'), 'as before');
    mkdirSync(join(folder, 'there'));
    const { effects } = await dying(Number.POSITIVE_INFINITY, false, () => body(folder));
    const moments = differentMoments(effects);
    const all = [false, true].flatMap((losesPower) =>
      Array.from({ length: effects.length + 1 }, (_, at) => ({ losesPower, at })),
    );
    t.ok(moments.length < all.length, `${moments.length} of ${all.length}`);
    const looked = new Set<string>();
    for (const moment of moments) looked.add(await stateAfter(t, body, moment));
    const unseen: string[] = [];
    for (const moment of all) {
      const state = await stateAfter(t, body, moment);
      const { at, losesPower } = moment;
      if (!looked.has(state))
        unseen.push(`${losesPower ? 'power cut' : 'killed'} at ${at}:\n${state}`);
    }
    t.same(unseen, []);
  });
}

t.test('what a server was asked in between is a difference', async (t) => {
  const cutsAfter = (requests: number) =>
    differentMoments([
      { text: 'open /a', requests: 0, lost: new Set() },
      { text: 'write /a', requests, lost: new Set([0]) },
    ]).flatMap(({ losesPower, at }) => (losesPower ? [at] : []));
  t.same(cutsAfter(0), [2]);
  t.same(cutsAfter(1), [1, 2]);
});
