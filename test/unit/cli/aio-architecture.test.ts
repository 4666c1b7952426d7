import { join } from 'node:path';
import t from 'tap';
import { agentsExecutable } from './agents-executable.ts';
import { edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const digest = 'a'.repeat(64);
const image = { name: 'etcd', reference: 'registry.k8s.io/etcd:3.6.8-0', id: `sha256:${digest}` };
const payloadFor = (architecture: string) => ({
  apiVersion: 'sno-agents/v1',
  kind: 'Payload',
  architecture,
  versions: { kubernetes: 'v1.37.2', etcd: 'v3.6.8' },
  images: [{ ...image, archive: 'images/etcd.tar', size: 1, sha256: digest }],
  binaries: [{ name: 'kubelet', file: 'bin/kubelet', size: 1, sha256: digest }],
});

const OF_CONFIG = /payload is for another architecture/;
const OF_EXECUTABLE =
  /different architectures.*expected sno-agents for arm64, as the payload.*found sno-agents for amd64/;

/** The executable is for amd64. A wrong payload is one fault, whatever else it differs from. */
const CASES: readonly (readonly [payload: string, config: string | undefined, says?: RegExp])[] = [
  ['amd64', 'amd64'],
  ['amd64', undefined],
  ['arm64', undefined, OF_EXECUTABLE],
  ['arm64', 'arm64', OF_EXECUTABLE],
  ['arm64', 'amd64', OF_CONFIG],
  ['amd64', 'arm64', OF_CONFIG],
];
const SOURCES: readonly (readonly string[])[] = [
  [],
  ['--agents-url', 'http://192.0.2.1/sno-agents', '--payload-url', 'http://192.0.2.1/p'],
];
for (const [payload, config, says] of CASES) {
  for (const source of SOURCES) {
    const name = `payload for ${payload}, install-config for ${config ?? 'any'} ${source[0] ?? ''}`;
    t.test(name, async (t) => {
      const set: [string, string] = ['replicas: 1', `replicas: 1\n  architecture: ${config}`];
      const root = t.testdir({
        'sno-agents': agentsExecutable(),
        payload: { 'payload.yaml': JSON.stringify(payloadFor(payload)) },
        cluster: { 'install-config.yaml': edited(config === undefined ? [] : [set]) },
      });
      const { code, err } = await sno([
        ...['create', 'aio-ignition', '--dir', join(root, 'cluster')],
        ...['--agents-executable', join(root, 'sno-agents')],
        ...['--payload', join(root, 'payload'), ...source],
      ]);
      t.equal(code, says === undefined ? 0 : 2, err);
      if (says === undefined) return;
      t.match(err, says);
      t.match(err, /1 error in/);
    });
  }
}
