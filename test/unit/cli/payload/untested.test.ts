import { join } from 'node:path';
import t from 'tap';
import { SUPPORTED_KUBERNETES } from '../../../../lib/payload/supported.ts';
import { agentsExecutable } from '../agents-executable.ts';
import { edited } from '../install-config-file.ts';
import { sno } from '../run-sno.ts';

const digest = 'a'.repeat(64);
const payloadOf = (kubernetes: string, tag: string) => ({
  apiVersion: 'sno-agents/v1',
  kind: 'Payload',
  architecture: 'amd64',
  versions: { kubernetes, etcd: 'v3.6.8' },
  images: [
    {
      name: 'kube-apiserver',
      reference: `registry.k8s.io/kube-apiserver:${tag}`,
      id: `sha256:${digest}`,
      archive: 'images/kube-apiserver.tar',
      size: 1,
      sha256: digest,
    },
  ],
  binaries: [{ name: 'kubelet', file: 'bin/kubelet', size: 1, sha256: digest }],
});

const COMMANDS = ['aio-ignition', 'single-node-ignition-config'];
const ACCEPT = ['--accept-untested'];

for (const command of COMMANDS) {
  t.test(`${command} judges the versions of its payload`, async (t) => {
    for (const [version, options, expected] of [
      ['v1.37.9', [], { code: 0 }],
      ['v1.38.0', [], { code: 2, err: /run with Kubernetes 1\.38: .* add --accept-untested/ }],
      ['v1.38.0', ACCEPT, { code: 0, err: /Notice: .* not been run with Kubernetes 1\.38/ }],
      ['v1.34.4', [], { code: 2, err: /Kubernetes 1\.34, .* is no longer installed/ }],
      ['v1.34.4', ACCEPT, { code: 0, err: /Notice: Kubernetes 1\.34, / }],
      ['v1.33.0', ACCEPT, { code: 2, err: /older than 1\.34, the oldest/ }],
    ] as const) {
      const run = await created(command, payloadOf(version, version), options);
      t.match(run, expected, `${version} ${options.join()}`);
    }
    t.match(await created(command, payloadOf('v1.37.3', 'v1.37.2'), ACCEPT), {
      code: 2,
      err: /states kubernetes v1\.37\.3, but the tag of image kube-apiserver is v1\.37\.2/,
    });
  });

  async function created(command: string, payload: object, options: readonly string[]) {
    const root = t.testdir({
      'sno-agents': agentsExecutable(),
      payload: { 'payload.yaml': JSON.stringify(payload) },
      cluster: { 'install-config.yaml': edited([]) },
    });
    return sno([
      ...['create', command, '--dir', join(root, 'cluster'), ...options],
      ...['--agents-executable', join(root, 'sno-agents'), '--payload', join(root, 'payload')],
    ]);
  }
}

t.test('sno shows the table', async (t) => {
  t.match(await sno(['--version']), { code: 0, out: /\nKubernetes 1\.35, 1\.36, 1\.37; etcd 3\./ });
  const { out } = await sno(['explain', 'versions']);
  for (const { minor, supportedUntil } of SUPPORTED_KUBERNETES) {
    t.match(out, new RegExp(`^${minor} .* ${supportedUntil} `, 'm'), minor);
  }
  const rows = JSON.parse((await sno(['explain', 'versions', '--json'])).out);
  t.match(rows.at(-1), { minor: '1.37', use: 'install', cgroupV1: 'on-request' });
});
