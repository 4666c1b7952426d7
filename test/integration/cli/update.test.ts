/** `sno create update` and `sno verify update`, with the real ssh-keygen. */
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { createArguments, payloadSources } from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { ARM64 } from '../../unit/payload/elf/program.ts';

const skip =
  (await execa('ssh-keygen', ['-?'], { reject: false })).code === 'ENOENT' && 'no ssh-keygen';

/** A payload, an executable and a key; `create` makes an update of them. */
async function parts(t: Test) {
  const folder = t.testdir({ sources: {}, 'sno-agents': agentsExecutable() });
  const { arguments: given } = await payloadSources(join(folder, 'sources'));
  const payload = join(folder, 'payload');
  const { code, err } = await sno(createArguments(payload, given));
  if (code !== 0) throw new Error(err);
  const key = join(folder, 'key');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const dir = join(folder, 'update');
  const create = (options: Readonly<Record<string, string>> = {}) => {
    const all = { dir, payload, key, 'agents-executable': join(folder, 'sno-agents'), ...options };
    return sno([
      ...['create', 'update'],
      ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
    ]);
  };
  const verify = (sshKey = `${key}.pub`) => sno(['verify', 'update', dir, '--ssh-key', sshKey]);
  return { folder, dir, create, verify };
}

t.test('an update is created and verified', { skip }, async (t) => {
  const { folder, dir, create, verify } = await parts(t);
  const { code, out, err } = await create();
  t.equal(code, 0, err);
  t.match(out, /^sno-agents 0\.1\.0\+test, Kubernetes v1\.37\.2, etcd v3\.6\.8$/m);
  t.same(readdirSync(dir).toSorted(), ['payload', 'sno-agents', 'update.json', 'update.json.sig']);
  t.equal(statSync(join(dir, 'sno-agents')).mode & 0o777, 0o755);
  const { serial } = JSON.parse(readFileSync(join(dir, 'update.json'), 'utf8'));
  t.ok(Math.abs(serial - Date.now() / 1000) < 3600, 'the present time in seconds');
  t.match(await verify(), { code: 0, out: /^Signed by SHA256:/m });
  t.match(await verify(), { out: new RegExp(`^serial ${serial}$`, 'm') });
  t.match(await create(), { code: 2, err: /already exists/ }, 'it is not overwritten');
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('.')),
    [],
    'nothing is left beside it',
  );
});

t.test('the order of updates is signed', { skip }, async (t) => {
  const { folder, create } = await parts(t);
  const manifestOf = (name: string) =>
    JSON.parse(readFileSync(join(folder, name, 'update.json'), 'utf8'));
  const expires = '2999-01-31T00:00:00Z';
  const given = await create({ dir: join(folder, 'a'), serial: '12', expires });
  t.match(given, { code: 0, out: /^serial 12, expires 2999-01-31T00:00:00Z$/m });
  t.match(manifestOf('a'), { serial: 12, expires });
  for (const wrong of [
    ...['0', '-1', '1.5', 'new', '9007199254740993'].map((serial) => ({ serial })),
    ...['2020-01-01T00:00:00Z', 'tomorrow', '2999-02-30', '2999-13-01T00:00:00Z'].map(
      (expires) => ({ expires }),
    ),
  ]) {
    t.match(await create({ dir: join(folder, 'b'), ...wrong }), { code: 2 }, JSON.stringify(wrong));
  }
  t.notOk(readdirSync(folder).includes('b'));
});

t.test('what is not as it was signed is found', { skip }, async (t) => {
  const { folder, dir, create, verify } = await parts(t);
  await create();
  const stranger = join(folder, 'stranger');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', stranger]);
  t.match(await verify(`${stranger}.pub`), { code: 2, err: /not signed by an allowed key/ });
  const executable = readFileSync(join(dir, 'sno-agents'));
  appendFileSync(join(dir, 'sno-agents'), 'more');
  t.match(await verify(), { code: 2, err: /sno-agents is not what the signed manifest says/ });
  writeFileSync(join(dir, 'sno-agents'), executable);
  appendFileSync(join(dir, 'payload/payload.yaml'), '# more\n');
  t.match(await verify(), { code: 2, err: /payload\.yaml is not what the signed manifest says/ });
  const manifest = readFileSync(join(dir, 'update.json'), 'utf8');
  writeFileSync(join(dir, 'update.json'), manifest.replace('v1.37.2', 'v1.37.9'));
  t.match(await verify(), { code: 2, err: /not signed by an allowed key/ });
});

t.test('nothing is written for parts that do not fit', { skip }, async (t) => {
  const { folder, dir, create } = await parts(t);
  writeFileSync(join(folder, 'arm'), agentsExecutable({ machine: ARM64 }));
  writeFileSync(join(folder, 'other'), 'a text');
  const cases = [
    [{ key: join(folder, 'other') }, /cannot sign/],
    [{ key: join(folder, 'missing') }, /cannot sign/],
    [{ payload: folder }, /No payload found/],
    [{ 'agents-executable': join(folder, 'arm') }, /different architectures/],
    [{ 'agents-executable': join(folder, 'other') }, /sno-agents|ELF|program/],
  ] as const;
  for (const [options, err] of cases) {
    t.match(await create(options), { code: 2, err });
    t.notOk(existsSync(dir), String(err));
  }
});
