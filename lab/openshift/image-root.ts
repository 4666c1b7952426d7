import { appendFile, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

  /** Mounts a folder or file of the machine, as `podman run --volume` does. */
  async mount(source: string, target: string, signal: AbortSignal): Promise<void> {
    const path = join(this.tree, target);
    if ((await stat(source)).isDirectory()) await mkdir(path, { recursive: true });
    else {
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, '');
    }
    await run('mount', ['--bind', source, path], { signal, deadlineMs: UNPACK_MS });
  }

  /** The machine's command line for a command in the image, without its entrypoint. */
  commandLine(
    command: readonly string[],
    variables: readonly string[] = [],
  ): { readonly program: string; readonly args: readonly string[] } {
    const environment = ['-i', ...this.#environment, ...variables];
    return { program: 'env', args: [...environment, 'chroot', this.tree, ...command] };
  }

  /** Runs a command to its end; returns its output. */
  async execute(
    command: readonly string[],
    variables: readonly string[],
    signal: AbortSignal,
  ): Promise<string> {
    const { program, args } = this.commandLine(command, variables);
    return run(program, args, { signal, deadlineMs: RENDER_MS });
  }

  /** Runs arguments after the image's entrypoint, as `podman run` does; returns the output. */
  run(args: readonly string[], signal: AbortSignal): Promise<string> {
    return this.execute([...this.#entrypoint, ...args], [], signal);
  }
}
