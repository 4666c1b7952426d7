import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../../lib/host/command.ts';

const manifestSchema = z.tuple([
  z.object({ Config: z.string(), Layers: z.array(z.string()).min(1) }),
]);
const configSchema = z.object({
  config: z.object({ Entrypoint: z.array(z.string()).optional(), Env: z.array(z.string()) }),
});

const UNPACK_MS = 120_000;
const RENDER_MS = 120_000;

/** The file system of an image, to run its programs without a container runtime. */
export class ImageRoot {
  readonly tree: string;
  readonly #entrypoint: readonly string[];
  readonly #environment: readonly string[];

  private constructor(
    tree: string,
    { Entrypoint = [], Env }: z.infer<typeof configSchema>['config'],
  ) {
    this.tree = tree;
    this.#entrypoint = Entrypoint;
    this.#environment = Env;
  }

  /** Unpacks the image of a docker archive into a new folder. */
  static async unpack(archive: string, tree: string, signal: AbortSignal): Promise<ImageRoot> {
    const work = `${tree}.archive`;
    const within = { signal, deadlineMs: UNPACK_MS };
    for (const folder of [tree, work]) await mkdir(folder, { recursive: true });
    await run('tar', ['-xf', archive, '-C', work], within);
    const read = async (name: string): Promise<unknown> =>
      JSON.parse(await readFile(join(work, name), 'utf8'));
    const [{ Config, Layers }] = manifestSchema.parse(await read('manifest.json'));
    for (const layer of Layers) await run('tar', ['-xf', join(work, layer), '-C', tree], within);
    const { config } = configSchema.parse(await read(Config));
    await rm(work, { recursive: true });
    return new ImageRoot(tree, config);
  }

  /** Mounts a folder of the machine, as `podman run --volume` does. */
  async mount(source: string, target: string, signal: AbortSignal): Promise<void> {
    const path = join(this.tree, target);
    await mkdir(path, { recursive: true });
    await run('mount', ['--bind', source, path], { signal, deadlineMs: UNPACK_MS });
  }

  /** Runs the image's entrypoint, or the command if it has none; returns its output. */
  run(command: readonly string[], signal: AbortSignal): Promise<string> {
    const clean = ['env', '-i', ...this.#environment];
    const args = [...clean, 'chroot', this.tree, ...this.#entrypoint, ...command];
    return run('/usr/bin/env', args.slice(1), { signal, deadlineMs: RENDER_MS });
  }
}
