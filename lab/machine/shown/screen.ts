import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { eventually } from '../../eventually.ts';
import { onHost } from '../../host/on-host.ts';
import type { Installation } from '../../installation.ts';
import { asMachine } from '../machine-host.ts';

/** Of the first terminal, as the kernel has it: one character for each place, without line ends. */
const TERMINAL = '/dev/vcs1';
const SHOWN_MS = 90_000;
/** What the lab's system, which is a container's too, hides: the login prompts of a machine. */
const HIDDEN = ['getty.target', 'getty@tty1.service'];

/** The screen of a machine, and its serial console. */
export class Screen {
  readonly #run: Pick<Installation, 'booted' | 'context' | 'journals'>;
  #photographs = 0;

  constructor(run: Pick<Installation, 'booted' | 'context' | 'journals'>) {
    this.#run = run;
  }

  /** Login prompts on both, in this boot and in later ones, as every distribution has them. */
  async showPrompts(): Promise<void> {
    const { booted, context } = this.#run;
    const inside = (...argv: string[]) => onHost(booted, argv, context.signal);
    await inside('rm', '-f', ...HIDDEN.map((name) => `/etc/systemd/system/${name}`));
    await inside('systemctl', 'daemon-reload');
    await inside('systemctl', 'start', 'getty.target');
  }

  /**
   * Waits until the screen says it, and takes a photograph; `lab/out/<scenario>/NN-name.png`.
   *
   * @param withinMs on a host of usual speed
   */
  async says(words: RegExp, name: string, withinMs = SHOWN_MS): Promise<void> {
    const { signal } = this.#run.context;
    const look = async () => requireSaid(words, 'the screen', await this.#text());
    await eventually(look, withinMs, signal);
    this.#photographs += 1;
    const number = `${this.#photographs}`.padStart(2, '0');
    const file = join(this.#run.context.out, `${number}-${name}.png`);
    await asMachine(this.#run.booted).devices.photograph(file);
  }

  /** Waits until the serial console has said it, in this boot or in an earlier one. */
  async serialSays(words: RegExp): Promise<void> {
    const { context, journals } = this.#run;
    const logs = journals.map((path) => path.replace(/-journal\.log$/, '-console.log'));
    const look = async () => {
      const texts = await Promise.all(logs.map((path) => readFile(path, 'utf8')));
      requireSaid(words, 'the serial console', texts.join('\n'));
    };
    await eventually(look, SHOWN_MS, context.signal);
  }

  async #text(): Promise<string> {
    const { booted, context } = this.#run;
    return onHost(booted, ['cat', TERMINAL], context.signal);
  }
}

/** Wherever its lines end. */
function requireSaid(words: RegExp, where: string, text: string): void {
  const said = text.replaceAll(/\s+/g, ' ').trim();
  if (words.test(said)) return;
  throw new Failure('retry', `${where} does not say what to do`, {
    expected: words.source,
    found: said.slice(-800),
  });
}
