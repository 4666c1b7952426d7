import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { gatherHere } from '../../unit/gather/in-process.ts';
import { GatherTester, unpacked } from '../../unit/gather/tester.ts';

function write({ root }: GatherTester, path: string, contents: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, contents);
  return file;
}

const bundled = ({ home }: GatherTester, path: string) =>
  unpacked(join(home, 'log-bundle-x.tar.gz'), `log-bundle-x/${path}`);

t.test('secrets of the host are not in the bundle; gather.log lists unread files', async (t) => {
  const tester = new GatherTester(t);
  write(tester, 'etc/environment', 'DB_PASSWORD="two words; & more"\n');
  const large = write(tester, 'etc/sysconfig/large', '');
  truncateSync(large, 3 << 20);
  const text = 'login with two words; & more failed\n';
  await gatherHere(tester, ['gather', '--id', 'x'], [{ path: 'app.log', does: 'text', text }]);
  t.match(bundled(tester, 'app.log'), /^login with <redacted:[0-9a-f]{8}> failed\n$/);
  const line = `secrets of ${large}: 3145728 bytes are too large to be searched for secrets`;
  t.ok(bundled(tester, 'gather.log').includes(line));
});

t.test('gather.log says that the deadline passed', async (t) => {
  const tester = new GatherTester(t, { gatherSecretsMs: 1 });
  const text = 'nothing secret\n';
  await gatherHere(tester, ['gather', '--id', 'x'], [{ path: 'app.log', does: 'text', text }]);
  t.equal(bundled(tester, 'app.log'), text);
  t.match(
    bundled(tester, 'gather.log'),
    /secrets of \S+: not all files were searched for secrets: the deadline for the host's secrets, 0.001 s, passed/,
  );
});
