import { Failure } from '../../lib/base/errors/failure.ts';
import { OPENSHIFT_ETCD } from '../components/openshift/images.ts';
import { OPENSHIFT_KUBERNETES_VERSION } from '../components/openshift/kubernetes.ts';
import type { ImageRoots } from './image-roots.ts';

interface Program {
  readonly image: string;
  readonly command: readonly string[];
  /** Its output must have this text. */
  readonly says: string;
}

const kubernetes = (name: string): Program => ({
  image: 'hyperkube',
  command: ['hyperkube', name, '--version'],
  says: `Kubernetes v${OPENSHIFT_KUBERNETES_VERSION}`,
});

/** Commands of static pods' scripts. */
const commands = ['bash', 'flock', 'ionice', 'sleep', 'ss', 'timeout'];
const find = `set -o pipefail; command -v ${commands.join(' ')} | wc -l`;

const programs: readonly Program[] = [
  kubernetes('kube-apiserver'),
  kubernetes('kube-controller-manager'),
  kubernetes('kube-scheduler'),
  { image: 'hyperkube', command: ['/bin/sh', '-c', find], says: String(commands.length) },
  { image: 'etcd', command: ['etcd', '--version'], says: OPENSHIFT_ETCD.version },
  { image: 'etcd', command: ['etcdctl', 'version'], says: OPENSHIFT_ETCD.version },
  { image: 'machine-config-operator', command: ['version'], says: 'v4.21.0' },
];

/** Every program that is no stand-in must start in its image and say its version. */
export async function requirePrograms(
  roots: ImageRoots,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const { image, command, says } of programs) {
    report(command.join(' '));
    const root = await roots.of(image, signal);
    const said = await root.run(command, signal);
    if (said.includes(says)) continue;
    throw new Failure('fatal', `image ${image}: unexpected output of ${command.join(' ')}`, {
      expected: says,
      found: said.slice(0, 200),
    });
  }
}
