import { hostArchitecture } from '../../../../lib/host/architecture.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import type { Handlers } from '../../clients/cri/serve-runtime.ts';
import type { TestHost } from './host.ts';

const ETCD = { reference: 'registry.k8s.io/etcd:3.6.8-0', id: `sha256:${'e'.repeat(64)}` };

/** Writes a payload of etcd, these add-ons and one binary to a folder of the host; returns the digest of its payload.yaml. */
export function writePayload(
  host: TestHost,
  folder: string,
  kubelet = 'a kubelet',
  addOns: readonly string[] = [],
): string {
  const entry = (path: string, contents: string) => {
    host.write(`${folder}/${path}`, contents);
    return { size: contents.length, sha256: sha256(contents) };
  };
  const text = JSON.stringify({
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: hostArchitecture(),
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [
      {
        name: 'etcd',
        ...ETCD,
        archive: 'images/etcd.tar',
        ...entry('images/etcd.tar', 'an image'),
      },
      ...addOns.map((name) => ({
        name,
        reference: `r.test/${name}:1`,
        id: ETCD.id,
        archive: `images/${name}.tar`,
        ...entry(`images/${name}.tar`, 'an image'),
      })),
    ],
    binaries: [{ name: 'kubelet', file: 'bin/kubelet', ...entry('bin/kubelet', kubelet) }],
  });
  host.write(`${folder}/payload.yaml`, text);
  return sha256(text);
}

/**
 * Answers of a runtime that has the payload's image once `ctr` has imported it; `imported` may
 * return any id. Also gives the host `ctr` and `sync`.
 */
export function importingRuntime(host: TestHost, imported: () => string = () => ETCD.id): Handlers {
  host.programs.give(
    'ctr',
    `case "$*" in
      *" images import "*) touch "$ROOT/imported"; echo "unpacking ${ETCD.reference} (sha256:0)...done" ;;
      *" images label "*) ;;
      *) exit 97 ;;
    esac`,
  );
  host.programs.give('sync', '[ "$1" = --file-system ]');
  return {
    Status: () => ({ status: { conditions: [] }, info: {} }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
    ImageStatus: () =>
      host.has('/imported') ? { image: { id: imported(), repoTags: [ETCD.reference] } } : {},
  };
}
