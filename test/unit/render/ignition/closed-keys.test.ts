import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { withClosedKeys } from '../../../../lib/render/ignition/closed-keys.ts';
import { dataUrl } from '../../../../lib/render/ignition/data-url.ts';
import { configOf, directory, file } from '../../../../lib/render/ignition/entries.ts';
import { validateConfigText } from '../../../../lib/render/ignition/validate.ts';

const key = `${generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' })}`;
const kubeconfig = `users:\n- user:\n    client-key-data: ${Buffer.from(key).toString('base64')}\n`;

t.test('only files with private keys are closed, and nothing else is changed', async (t) => {
  const config = configOf({
    directories: [directory('/etc/kubernetes', 0o755)],
    files: [
      file('/etc/kubernetes/kubeconfig', 0o644, kubeconfig),
      file('/etc/kubernetes/kubelet-ca.crt', 0o644, 'a certificate'),
      { path: '/etc/key', contents: dataUrl(key) },
      { path: '/etc/appended', mode: 0o640, append: [dataUrl('x'), dataUrl(key)] },
      { path: '/etc/remote', mode: 0o644, contents: { source: 'https://example.test/key' } },
    ],
  });
  t.not(validateConfigText(JSON.stringify(config)).length, 0, 'it could not be installed');
  const closed = withClosedKeys(config);
  t.same(validateConfigText(JSON.stringify(closed)), []);
  t.same(
    closed.storage?.files?.map(({ path, mode }) => [path, mode]),
    [
      ['/etc/appended', 0o600],
      ['/etc/key', 0o600],
      ['/etc/kubernetes/kubeconfig', 0o600],
      ['/etc/kubernetes/kubelet-ca.crt', 0o644],
      ['/etc/remote', 0o644],
    ],
  );
  const modes = (each: typeof config) => ({
    ...each,
    storage: { ...each.storage, files: each.storage?.files?.map((of) => ({ ...of, mode: 0 })) },
  });
  t.same(modes(closed), modes(config));
});

t.test('a config without files stays as it is', async (t) => {
  const config = configOf({ directories: [directory('/etc/x', 0o755)] });
  t.same(withClosedKeys(config), config);
});
