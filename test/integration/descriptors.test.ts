import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import t, { type Test } from 'tap';
import { etcdModule } from '../../lab/components/etcd.ts';
import { goModuleFolder } from '../../lab/components/go-build.ts';
import { kubernetesModule } from '../../lab/components/kubernetes.ts';
import {
  ETCD_VERSIONS,
  isEtcdMinor,
  isKubernetesMinor,
  KUBERNETES_VERSIONS,
} from '../../lab/components/versions.ts';
import { criDescriptor } from '../../lib/clients/cri/descriptor.ts';
import { etcdDescriptor } from '../../lib/clients/etcd/descriptor.ts';
import type { Descriptor } from '../../lib/clients/grpc/client.ts';

const MODULE_MS = 5 * 60_000;

/** `runtime.v1.Container.id: string 1` for each field, enum value and method. Packages are left out of types. */
function linesOf(descriptor: Descriptor | protobuf.Root): Set<string> {
  const root =
    descriptor instanceof protobuf.Root ? descriptor : protobuf.Root.fromJSON(descriptor);
  const lines = new Set<string>();
  const short = (type: string) => type.split('.').at(-1);
  const visit = (object: protobuf.ReflectionObject): void => {
    const name = object.fullName;
    if (object instanceof protobuf.Type) {
      for (const field of object.fieldsArray) {
        const key = field instanceof protobuf.MapField ? `${field.keyType}, ` : '';
        const rule = field.repeated ? 'repeated ' : '';
        lines.add(`${name}.${field.name}: ${rule}${key}${short(field.type)} ${field.id}`);
      }
    }
    if (object instanceof protobuf.Enum) {
      for (const [value, id] of Object.entries(object.values)) lines.add(`${name}.${value}: ${id}`);
    }
    if (object instanceof protobuf.Service) {
      for (const { name: method, requestType, responseType } of object.methodsArray) {
        lines.add(`${name}.${method}(${short(requestType)}): ${short(responseType)}`);
      }
    }
    if (object instanceof protobuf.Namespace) for (const each of object.nestedArray) visit(each);
  };
  visit(root);
  return lines;
}

/** What upstream publishes with the release; imports are not followed. */
async function published(
  t: Test,
  pinned: string,
  module: string,
  files: readonly string[],
): Promise<Set<string>> {
  const signal = AbortSignal.timeout(MODULE_MS);
  const folder = await goModuleFolder(pinned, module, join(t.testdir(), 'module'), signal);
  const root = new protobuf.Root();
  for (const file of files) protobuf.parse(await readFile(join(folder, file), 'utf8'), root);
  return linesOf(root);
}

const cri = ['pkg/apis/runtime/v1/api.proto'];
const etcd = ['etcdserverpb/rpc.proto', 'mvccpb/kv.proto'];
const ours: readonly (readonly [string, Descriptor, string, string, readonly string[]])[] = [
  ...Object.keys(KUBERNETES_VERSIONS)
    .filter(isKubernetesMinor)
    .map(
      (minor) =>
        [
          `CRI of Kubernetes ${minor}`,
          criDescriptor,
          kubernetesModule(minor),
          'k8s.io/cri-api',
          cri,
        ] as const,
    ),
  ...Object.keys(ETCD_VERSIONS)
    .filter(isEtcdMinor)
    .map(
      (minor) =>
        [
          `etcd ${minor}`,
          etcdDescriptor,
          etcdModule(minor),
          'go.etcd.io/etcd/api/v3',
          etcd,
        ] as const,
    ),
];

for (const [name, descriptor, pinned, module, files] of ours) {
  t.test(`${name}: every field, value and method in use is that of upstream`, async (t) => {
    const used = linesOf(descriptor);
    const found = await published(t, pinned, module, files);
    t.ok(used.size > 20, 'the descriptor is read');
    t.strictSame(
      [...used].filter((line) => !found.has(line)),
      [],
    );
  });
}
