import { chmod, cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFiles } from '../../../lib/host/digests.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { writeImageArchive } from '../../../lib/payload/image/write.ts';
import type { Component } from '../component.ts';
import { etcdOf } from '../etcd.ts';
import { addProgram, imageConfig, type RunConfig, writeTreeLayer } from '../image-tree.ts';
import { pause } from '../pause.ts';
import { OPERATOR_CRDS, openshiftApi, PAYLOAD_CRDS } from './api.ts';
import { BASE_LAYER, openshiftBase } from './base.ts';
import { imageManifest } from './image-manifest.ts';
import { OPENSHIFT_KUBERNETES_VERSION, openshiftKubernetes } from './kubernetes.ts';
import { MACHINE_CONFIG_TEMPLATES, machineConfig } from './machine-config.ts';
import { standInOperator } from './operator.ts';
import {
  imageReference,
  imageReferences,
  namespaceManifest,
  OPENSHIFT_VERSION,
  RELEASE_NAMESPACES,
  releaseMetadata,
} from './release.ts';
import {
  OPERATOR_DEFINITIONS,
  operatorManifests,
  STATIC_POD_OPERATOR,
  STATIC_POD_TEMPLATES,
} from './release-operators.ts';
import { staticPodOperator } from './static-pod-operator.ts';

/** Folder with one docker archive for each image: `<name>.tar`. */
export const OPENSHIFT_ARCHIVES = 'archives';
/** The release image's name; it is not one of its own images. */
export const RELEASE_IMAGE = 'release';
/** The minor of the release. */
export const OPENSHIFT_ETCD = etcdOf('3.6');

const hyperkube = join(import.meta.dirname, 'hyperkube');
const podTemplates = join(import.meta.dirname, 'operator/templates');
/** Where the operators' images have the definitions that they render. */
const DEFINITIONS = 'usr/share/bootkube/manifests/manifests';

type FolderOf = (component: Component) => string;
/** Digests of images by name. */
type Digests = ReadonlyMap<string, string>;

interface Recipe {
  /** Writes the files of the image's own layer; `digests` are those of the images before it. */
  write(tree: string, folderOf: FolderOf, digests: Digests): Promise<unknown>;
  readonly config?: RunConfig;
  /** On top of the layer with a shell. */
  readonly onBase?: boolean;
}

interface Definitions {
  readonly from: string;
  readonly names: readonly string[];
}

/** An image with a stand-in under the name of the operator's program. */
function standIn(
  program: string,
  { started = false, definitions }: { started?: boolean; definitions?: Definitions } = {},
): Recipe {
  return {
    write: async (tree, folderOf) => {
      const operator = join(folderOf(standInOperator), 'operator');
      await addProgram(operator, join(tree, 'usr/bin', program));
      const source = join(folderOf(openshiftApi), definitions?.from ?? '');
      for (const name of definitions?.names ?? []) {
        await cp(join(source, name), join(tree, DEFINITIONS, name));
      }
    },
    ...(started ? { config: { Entrypoint: [`/usr/bin/${program}`] } } : {}),
  };
}

const roleBindings = '0000_03_config-operator_01_rolebindingrestrictions.crd.yaml';

/** The release's images by name. */
const recipes: Readonly<Record<string, Recipe>> = {
  'baremetal-runtimecfg': standIn('runtimecfg', { started: true }),
  'cloud-credential-operator': standIn('cloud-credential-operator', { started: true }),
  'cluster-authentication-operator': standIn('authentication-operator', {
    started: true,
    definitions: { from: PAYLOAD_CRDS, names: [roleBindings] },
  }),
  'cluster-config-api': {
    write: async (tree, folderOf) => {
      const api = folderOf(openshiftApi);
      await addProgram(join(api, 'render'), join(tree, 'usr/bin/render'));
      await cp(join(api, PAYLOAD_CRDS), join(tree, DEFINITIONS), { recursive: true });
    },
  },
  'cluster-config-operator': standIn('cluster-config-operator'),
  'cluster-etcd-operator': standIn('cluster-etcd-operator'),
  'cluster-ingress-operator': standIn('ingress-operator', {
    started: true,
    definitions: {
      from: OPERATOR_CRDS,
      names: ['0000_50_ingress_00_ingresscontrollers.crd.yaml'],
    },
  }),
  'cluster-kube-apiserver-operator': standIn('cluster-kube-apiserver-operator', {
    definitions: { from: OPERATOR_CRDS, names: ['kube-apiserver_apirequestcounts.crd.yaml'] },
  }),
  'cluster-kube-controller-manager-operator': standIn('cluster-kube-controller-manager-operator'),
  'cluster-kube-scheduler-operator': standIn('cluster-kube-scheduler-operator'),
  'cluster-node-tuning-operator': standIn('cluster-node-tuning-operator', { started: true }),
  'cluster-policy-controller': standIn('cluster-policy-controller'),
  etcd: {
    onBase: true,
    write: async (tree, folderOf) => {
      for (const program of ['etcd', 'etcdctl', 'etcdutl']) {
        await addProgram(join(folderOf(OPENSHIFT_ETCD), program), join(tree, 'usr/bin', program));
      }
    },
  },
  hyperkube: {
    onBase: true,
    write: async (tree, folderOf) => {
      const programs = ['apiserver', 'controller-manager', 'scheduler'].map((n) => `kube-${n}`);
      for (const program of [...programs, 'watch-termination']) {
        const source = join(folderOf(openshiftKubernetes), program);
        await addProgram(source, join(tree, 'usr/bin', program));
      }
      await addProgram(hyperkube, join(tree, 'usr/bin/hyperkube'));
    },
  },
  'machine-config-operator': {
    config: { Entrypoint: ['/usr/bin/machine-config-operator'] },
    write: async (tree, folderOf) => {
      const folder = folderOf(machineConfig);
      for (const part of ['operator', 'controller', 'server']) {
        const program = `machine-config-${part}`;
        await addProgram(join(folder, program), join(tree, 'usr/bin', program));
      }
      const templates = join(tree, 'etc/mcc/templates');
      await cp(join(folder, MACHINE_CONFIG_TEMPLATES), templates, { recursive: true });
    },
  },
  pod: {
    config: { Entrypoint: ['/usr/bin/pod'] },
    write: (tree, folderOf) =>
      addProgram(join(folderOf(pause), 'pause'), join(tree, 'usr/bin/pod')),
  },
  // A release has an image for each operator; here those only render.
  [STATIC_POD_OPERATOR]: {
    config: { Entrypoint: [`/usr/bin/${STATIC_POD_OPERATOR}`] },
    write: async (tree, folderOf) => {
      const program = join(folderOf(staticPodOperator), STATIC_POD_OPERATOR);
      await addProgram(program, join(tree, 'usr/bin', STATIC_POD_OPERATOR));
      await cp(podTemplates, join(tree, STATIC_POD_TEMPLATES), { recursive: true });
    },
  },
};

/** Of installer's and user's manifests whose kinds the cluster-version operator defines. */
const machineConfigDefinitions = [
  ...['containerruntimeconfigs', 'kubeletconfigs', 'machineconfigpools-Default', 'machineconfigs'],
].map((kind) => `0000_80_machine-config_01_${kind}.crd.yaml`);

/** The release image: the cluster-version operator's stand-in, and what it reads. */
const release: Recipe = {
  // `cat` prints its files.
  onBase: true,
  config: { Entrypoint: ['/usr/bin/cluster-version-operator'] },
  write: async (tree, folderOf, digests) => {
    await standIn('cluster-version-operator').write(tree, folderOf, digests);
    const prefix = '0000_00_cluster-version-operator_01_';
    for (const name of ['clusteroperators', 'clusterversions-Default']) {
      const file = `${prefix}${name}.crd.yaml`;
      await cp(join(folderOf(openshiftApi), OPERATOR_CRDS, file), join(tree, 'manifests', file));
    }
    const folder = join(tree, 'release-manifests');
    await mkdir(folder);
    const references = imageReferences(digests, OPENSHIFT_KUBERNETES_VERSION);
    await writeFile(join(folder, 'image-references'), references);
    await writeFile(join(folder, 'release-metadata'), releaseMetadata());
    for (const name of RELEASE_NAMESPACES) {
      await writeFile(join(folder, `0000_10_namespace-${name}.yaml`), namespaceManifest(name));
    }
    for (const [name, manifest] of Object.entries(operatorManifests(digests))) {
      await writeFile(join(folder, name), JSON.stringify(manifest));
    }
    for (const name of [...machineConfigDefinitions, ...OPERATOR_DEFINITIONS]) {
      await cp(join(folderOf(openshiftApi), PAYLOAD_CRDS, name), join(folder, name));
    }
  },
};

/** The release image last: it names the digests of the others. */
const images: Readonly<Record<string, Recipe>> = { ...recipes, [RELEASE_IMAGE]: release };
export const IMAGE_NAMES: readonly string[] = Object.keys(images);

/** The images of the lab's OpenShift release, as archives that podman and containerd load. */
export const openshiftImages: Component = {
  name: 'openshift-images',
  version: OPENSHIFT_VERSION,
  recipe: [
    import.meta.filename,
    hyperkube,
    podTemplates,
    join(import.meta.dirname, 'release.ts'),
    join(import.meta.dirname, 'release-operators.ts'),
    join(import.meta.dirname, 'image-manifest.ts'),
    join(import.meta.dirname, '../image-tree.ts'),
  ],
  needs: [
    ...[openshiftKubernetes, machineConfig, openshiftApi, openshiftBase, standInOperator],
    ...[staticPodOperator, OPENSHIFT_ETCD, pause],
  ],
  build: async (target, { folderOf, signal, report }) => {
    const archives = join(target, OPENSHIFT_ARCHIVES);
    await mkdir(archives);
    const base = join(folderOf(openshiftBase), BASE_LAYER);
    const known = new Map<string, string>();
    for (const [name, recipe] of Object.entries(images)) {
      report(name);
      const tree = join(target, `.${name}`);
      await (recipe.onBase ? mkdir(tree) : skeleton(tree));
      await recipe.write(tree, folderOf, known);
      const paths = [...(recipe.onBase ? [base] : []), await writeTreeLayer(tree, signal)];
      const digests = await sha256OfFiles(paths, signal);
      const layers = paths.map((path) => ({ path, diffId: digests.get(path) ?? '' }));
      const config = imageConfig(recipe.config ?? {}, layers);
      const image = { reference: imageReference(name), config, layers };
      await writeImageArchive(join(archives, `${name}.tar`), image, signal);
      known.set(name, await manifestDigest(config, layers));
      await rm(tree, { recursive: true });
      await rm(`${tree}.tar`);
    }
  },
};

/** The digest by which a registry serves the image. */
async function manifestDigest(
  config: Uint8Array,
  layers: readonly { readonly path: string; readonly diffId: string }[],
): Promise<string> {
  const blobs = layers.map(async ({ path, diffId }) => ({
    digest: diffId,
    bytes: (await stat(path)).size,
  }));
  const own = { digest: sha256(config), bytes: config.byteLength };
  return imageManifest(own, await Promise.all(blobs)).digest;
}

/** What programs expect of any root file system. */
async function skeleton(tree: string): Promise<void> {
  await mkdir(join(tree, 'etc'), { recursive: true });
  await mkdir(join(tree, 'tmp'));
  await chmod(join(tree, 'tmp'), 0o1777);
  await writeFile(join(tree, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
}
