import { describeError, Failure } from '../base/errors/failure.ts';
import type { Limits } from '../base/wait/limits.ts';
import { run } from '../host/command.ts';

const UNIT = 'containerd.service';

/**
 * The image that containerd takes for every pod sandbox, by its configuration. The CRI of containerd 2 no longer reports
 * it, so the program that the unit starts is asked, with the configuration file that the unit names.
 *
 * @param warn gets a sentence where that cannot be found out; then the answer is undefined
 */
export async function configuredSandboxImage(
  limits: Limits,
  warn: (sentence: string) => void,
): Promise<string | undefined> {
  try {
    const show = ['show', '--property=ExecStart', '--value', UNIT];
    const { program, options } = startOf(await run('systemctl', show, limits));
    const found = sandboxImageIn(await run(program, [...options, 'config', 'dump'], limits));
    if (found !== undefined) return found;
    throw new Failure('retry', `"${program} config dump" names no image for pod sandboxes`);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    warn(
      `Which image containerd takes for pod sandboxes is not known; without a registry it must be that of the payload: ${describeError(error)}`,
    );
    return undefined;
  }
}

/** The program of a unit and its configuration file, as `systemctl show` prints ExecStart. */
export function startOf(execStart: string): { program: string; options: string[] } {
  const [, text = ''] = /argv\[\]=(.*?) ;/.exec(execStart) ?? [];
  const [program = 'containerd', ...args] = text.split(' ').filter((word) => word !== '');
  const at = args.findIndex((word) => /^--?(?:config|c)(?:=|$)/.test(word));
  return {
    program,
    options: at < 0 ? [] : args.slice(at, args[at]?.includes('=') ? at + 1 : at + 2),
  };
}

/** In the output of `containerd config dump`, of version 2 (containerd 1.x) or 3. */
export function sandboxImageIn(dump: string): string | undefined {
  const [, pinned] =
    /^ *\[plugins\.['"]io\.containerd\.cri\.v1\.images['"]\.pinned_images\]\n(?:(?! *\[).*\n)*? *sandbox = ['"]([^'"\n]+)['"]/m.exec(
      dump,
    ) ?? [];
  const [, image] = /^ *sandbox_image = ['"]([^'"\n]+)['"]/m.exec(dump) ?? [];
  return pinned ?? image;
}
