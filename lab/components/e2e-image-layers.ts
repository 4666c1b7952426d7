import { chmod, copyFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { debootstrap } from './debootstrap.ts';
import { e2eTestModule } from './e2e-test.ts';
import { goModuleFolder } from './go-build.ts';
import { addProgram, writeTreeLayer } from './image-tree.ts';

/** Folders with the programs of the images. */
export interface ImagePrograms {
  readonly e2eTest: string;
  readonly etcd: string;
  readonly pause: string;
}

type Write = (tree: string, from: Sources, signal: AbortSignal) => Promise<unknown>;
interface Sources extends ImagePrograms {
  /** `test/images` of Kubernetes. */
  readonly images: string;
  /** The tree of the first layer. */
  readonly debian: string;
}

/** An image of Alpine or Debian has these users; agnhost's last one is part of a test. */
const passwd = `root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false
user-defined-in-image:x:1000:1000::/home:/bin/sh
`;
const group = `root:x:0:
nogroup:x:65534:
user-defined-in-image:x:1000:
group-defined-in-image:x:50000:user-defined-in-image
`;

const debianPackages = ['bash-static', 'bind9-dnsutils', 'curl', 'iproute2', 'netcat-openbsd'];

/** The layers of the images, each with what writes its tree. */
const layers = {
  debian: (tree, _, signal) => debootstrap(tree, debianPackages, signal),
  // As in the upstream image, all applets are in /bin.
  busybox: async (tree, { debian }, signal) => {
    await addProgram('/bin/busybox', join(tree, 'bin/busybox'));
    // BusyBox's and dash's sh drop variables such as `data-1` from the environment.
    await addProgram(join(debian, 'bin/bash-static'), join(tree, 'bin/sh'));
    const within = { signal, deadlineMs: 20_000 };
    const present = ['', 'busybox', 'sh'];
    for (const applet of (await run('/bin/busybox', ['--list'], within)).split('\n')) {
      if (!present.includes(applet)) await symlink('busybox', join(tree, 'bin', applet));
    }
    await mkdir(join(tree, 'tmp'));
    await chmod(join(tree, 'tmp'), 0o1777);
    await mkdir(join(tree, 'root'));
    await users(tree);
  },
  agnhost: async (tree, { e2eTest, images }) => {
    await addProgram(join(e2eTest, 'agnhost'), join(tree, 'agnhost'));
    await symlink('agnhost', join(tree, 'agnhost-2'));
    await mkdir(join(tree, 'uploads'));
    for (const name of ['localhost.crt', 'localhost.key']) {
      await copyFile(join(images, 'agnhost/porter', name), join(tree, name));
    }
    await users(tree);
  },
  nautilus: (tree, { images }) => cp(join(images, 'nautilus/html'), tree, { recursive: true }),
  httpd: (tree) => page(join(tree, 'usr/local/apache2/htdocs')),
  nginx: (tree) => page(join(tree, 'usr/share/nginx/html')),
  nonewprivs: async (tree, { e2eTest }) => {
    const nnp = join(tree, 'usr/local/bin/nnp');
    await addProgram(join(e2eTest, 'nnp'), nnp);
    await chmod(nnp, 0o4755);
  },
  'sample-apiserver': (tree, { e2eTest }) =>
    addProgram(join(e2eTest, 'sample-apiserver'), join(tree, 'sample-apiserver')),
  etcd: (tree, { etcd }) => addProgram(join(etcd, 'etcd'), join(tree, 'usr/local/bin/etcd')),
  pause: (tree, { pause }) => addProgram(join(pause, 'pause'), join(tree, 'pause')),
} satisfies Readonly<Record<string, Write>>;

export type Layer = keyof typeof layers;

/** Writes the tree of every layer; returns their tars by the layer's name. */
export async function writeLayers(
  work: string,
  programs: ImagePrograms,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const source = join(work, 'source');
  const kubernetes = await goModuleFolder(e2eTestModule, 'k8s.io/kubernetes', source, signal);
  const sources = {
    ...programs,
    images: join(kubernetes, 'test/images'),
    debian: join(work, 'debian'),
  };
  const tars = new Map<string, string>();
  for (const [layer, write] of Object.entries(layers)) {
    const tree = join(work, layer);
    await mkdir(tree);
    await write(tree, sources, signal);
    tars.set(layer, await writeTreeLayer(tree, signal));
  }
  return tars;
}

async function users(tree: string): Promise<void> {
  await mkdir(join(tree, 'etc'), { recursive: true });
  await writeFile(join(tree, 'etc/passwd'), passwd);
  await writeFile(join(tree, 'etc/group'), group);
}

async function page(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), '<html><body><h1>It works!</h1></body></html>\n');
}
