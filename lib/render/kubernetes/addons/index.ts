import { writeGoDocuments } from '../../../base/go-yaml/write.ts';
import { type AddOn, addOns } from '../../../payload/add-ons.ts';
import type {
  KeylessInput,
  RenderedDirectory,
  RenderedFile,
  RenderedManifest,
  RenderInput,
} from '../../renderer.ts';
import { publicFile } from '../files.ts';
import { coredns } from './coredns.ts';
import { flannel } from './flannel.ts';
import { kubeProxy } from './kube-proxy.ts';
import { localPathProvisioner, volumesFolder } from './local-path-provisioner.ts';

const objectsOf: Readonly<Record<AddOn, (image: string, input: KeylessInput) => object[]>> = {
  'kube-proxy': kubeProxy,
  coredns,
  'local-path-provisioner': localPathProvisioner,
  flannel,
};

/** The objects of every add-on whose image the payload has, one manifest for each. */
export function addOnManifests(input: KeylessInput): RenderedManifest[] {
  return addOns.flatMap(({ name }) => {
    const image = input.host.images[name];
    if (image === undefined) return [];
    const objects = objectsOf[name](image, input);
    const contents = writeGoDocuments(objects);
    return [{ name: `20-${name}.yaml`, contents }];
  });
}

/**
 * Two pods of one bridge reach each other through a Service only if bridged replies pass the
 * host's connection tracking, which reverses the translation. The module enables that by default.
 */
export function addOnFiles({ host }: KeylessInput): RenderedFile[] {
  if (host.images['kube-proxy'] === undefined) return [];
  return [
    publicFile('/etc/modules-load.d/sno-services.conf', 'br_netfilter\n', { uses: ['node'] }),
  ];
}

/** Volumes are world-writable: their parent folder keeps other users of the host out. */
export function addOnDirectories({ host }: RenderInput): RenderedDirectory[] {
  if (host.images['local-path-provisioner'] === undefined) return [];
  return [{ path: volumesFolder, mode: 0o700, uses: ['node'] }];
}
