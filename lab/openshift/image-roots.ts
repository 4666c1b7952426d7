import { join } from 'node:path';
import { OPENSHIFT_ARCHIVES } from '../components/openshift/images.ts';
import { ImageRoot } from './image-root.ts';

/** The images' file systems, unpacked when first needed, with the assets at /assets. */
export class ImageRoots {
  readonly #known = new Map<string, ImageRoot>();
  readonly #images: string;
  readonly #work: string;
  readonly assets: string;

  constructor(folders: { images: string; work: string; assets: string }) {
    this.#images = folders.images;
    this.#work = folders.work;
    this.assets = folders.assets;
  }

  async of(name: string, signal: AbortSignal): Promise<ImageRoot> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const archive = join(this.#images, OPENSHIFT_ARCHIVES, `${name}.tar`);
    const root = await ImageRoot.unpack(archive, join(this.#work, name), signal);
    await root.mount(this.assets, 'assets', signal);
    this.#known.set(name, root);
    return root;
  }
}
