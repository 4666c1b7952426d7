import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { RELEASE_FILES, RELEASE_SIGNATURE } from '../../../cli/verify/release.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { signText } from '../../../lib/pki/signature/ssh-signature.ts';
import { sno } from '../../unit/cli/run-sno.ts';

const ARCHIVES = {
  'sno-agents-1.0.0-linux-x64.tar.gz': 'x64',
  'sno-agents-1.0.0-linux-arm64.tar.gz': 'arm',
};
const SUMS = Object.entries(ARCHIVES)
  .map(([name, contents]) => `${sha256(contents)}  ${name}\n`)
  .join('');

/** A downloaded release, signed by one of two keys. */
async function release(t: Test) {
  const folder = t.testdir({ release: ARCHIVES });
  const dir = join(folder, 'release');
  const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 };
  for (const name of ['publisher', 'stranger']) {
    await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)], {
      timeout: 60_000,
    });
  }
  const sign = async (sums = SUMS, by = 'publisher', namespace = RELEASE_SIGNATURE.namespace) => {
    writeFileSync(join(dir, RELEASE_FILES.sums), sums);
    const signature = await signText(sums, join(folder, by), { namespace }, limits);
    writeFileSync(join(dir, RELEASE_FILES.signature), signature);
  };
  await sign();
  const verify = (args = ['--ssh-key', join(folder, 'publisher.pub')]) =>
    sno(['verify', 'release', dir, ...args]);
  return { dir, sign, verify };
}

t.test('a release is what its publisher signed, also a part of it', async (t) => {
  const { dir, verify } = await release(t);
  const whole = await verify();
  t.equal(whole.code, 0, whole.err);
  for (const name of Object.keys(ARCHIVES)) t.match(whole.out, `${name}: as it was signed`);
  t.match(whole.out, /^Signed by SHA256:/m);
  rmSync(join(dir, 'sno-agents-1.0.0-linux-arm64.tar.gz'));
  const part = await verify();
  t.equal(part.code, 0);
  t.notMatch(part.out, 'arm64');
  rmSync(join(dir, 'sno-agents-1.0.0-linux-x64.tar.gz'));
  t.match(await verify(), { code: 2, err: /has no file of this release/ }, 'nothing to verify');
});

t.test('OpenSSH alone verifies it, as the guide says', async (t) => {
  const { dir } = await release(t);
  const signers = join(dir, '..', 'signers');
  writeFileSync(signers, `sno-release ${readFileSync(join(dir, '..', 'publisher.pub'), 'utf8')}`);
  const args = ['-n', 'sno-agents-release', '-I', 'sno-release', '-f', signers];
  const { stdout } = await execa(
    'ssh-keygen',
    ['-Y', 'verify', ...args, '-s', join(dir, RELEASE_FILES.signature)],
    { input: SUMS, timeout: 60_000 },
  );
  t.match(stdout, /Good "sno-agents-release" signature/);
});

t.test('anything else is refused', async (t) => {
  const { dir, sign, verify } = await release(t);
  writeFileSync(join(dir, 'sno-agents-1.0.0-linux-x64.tar.gz'), 'x65');
  t.match(await verify(), {
    code: 2,
    err: /differs from what was signed\n.*x64\.tar\.gz: expected SHA-256/,
  });
  writeFileSync(join(dir, RELEASE_FILES.sums), SUMS.replace(sha256('x64'), sha256('x65')));
  t.match(await verify(), { code: 2, err: /the release is not signed by an allowed key/ });
  await sign(SUMS, 'stranger');
  t.match(await verify(), { code: 2, err: /the release is not signed by an allowed key/ });
  await sign(SUMS, 'publisher', 'sno-agents-update');
  t.match(await verify(), { code: 2, err: /not signed by an allowed key/ }, 'for another purpose');
  for (const line of [
    `${sha256('')}  ../a`,
    `${sha256('')}  a/b`,
    'no digest',
    `${sha256('')}  -rf`,
  ]) {
    await sign(`${SUMS}${line}\n`);
    t.match(await verify(), { code: 2, err: /SHA256SUMS cannot be read/ }, line);
  }
  rmSync(join(dir, RELEASE_FILES.signature));
  t.match(await verify(), { code: 2, err: /SHA256SUMS\.sig cannot be read/ });
  t.match(await verify([]), { code: 2, err: /--ssh-key/ });
});
