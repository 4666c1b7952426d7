import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import { readInstallSettings } from '../install-config/settings.ts';
import type { Surroundings } from '../surroundings.ts';
import {
  type HostKind,
  installConfigTemplate,
  type TemplateAnswers,
} from './install-config-template.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';

export interface InstallConfigOptions {
  /** The folder that install-config.yaml is written to. */
  readonly dir: string;
  /** For a host that runs from the disk that it boots from. */
  readonly aio?: boolean;
  /** Asks for what has no default. */
  readonly ask?: boolean;
}

interface Question {
  readonly answer: keyof TemplateAnswers;
  /** Of install-config.yaml. */
  readonly field: string;
  readonly text: string;
  /** Nothing may be answered. */
  readonly isOptional: boolean;
  /** The answer is the path of a file, whose text counts. */
  readonly isFile: boolean;
}

const ask = (
  answer: keyof TemplateAnswers,
  field: string,
  text: string,
  { isOptional = false, isFile = false } = {},
): Question => ({ answer, field, text, isOptional, isFile });

const QUESTIONS: readonly Question[] = [
  ask('name', 'metadata.name', 'Name of the cluster, such as sno'),
  ask('baseDomain', 'baseDomain', 'Domain that the name is in, such as example.com'),
  ask('disk', 'bootstrapInPlace.installationDisk', 'Disk of the host, such as /dev/disk/by-id/...'),
  ask('hostname', 'bootstrapInPlace.hostname', 'Name of the host (empty: by DHCP or DNS)', {
    isOptional: true,
  }),
  ask(
    'machineNetwork',
    'networking.machineNetwork',
    'Network of the host, such as 192.168.7.0/24 (empty: the default, 10.0.0.0/16)',
    { isOptional: true },
  ),
  ask(
    'sshKey',
    'sshKey',
    'File with the SSH public key of who may log in, such as ~/.ssh/id_ed25519.pub',
    {
      isFile: true,
    },
  ),
  ask('pullSecret', 'pullSecret', 'File with the pull secret (empty: none is needed)', {
    isOptional: true,
    isFile: true,
  }),
];

/**
 * `sno create install-config`: writes a commented install-config.yaml, with placeholders or with answers, each of which
 * is judged at once as the whole file is later. @throws Failure (usage) if there is one already, or no answer
 */
export async function createInstallConfig(
  { dir, aio = false, ask = false }: InstallConfigOptions,
  surroundings: Surroundings,
): Promise<void> {
  const path = join(dir, INSTALL_CONFIG);
  await requireAbsent([path]);
  const kind = aio ? 'all-in-one' : 'single-node';
  const answers = ask ? await answersOf(kind, surroundings) : {};
  const text = installConfigTemplate(kind, answers);
  surroundings.signal.throwIfAborted();
  await writeOutputs([{ path, contents: text }]);
  surroundings.wrote(path);
  const option = aio ? ' --aio' : '';
  surroundings.print(
    `${ask ? 'Look at it' : 'Replace each <...> in it'}, then: sno verify install-config --dir ${shellWord(dir)}${option}`,
  );
}

/** As a person can paste it. */
const shellWord = (text: string): string =>
  /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

async function answersOf(
  kind: HostKind,
  { complain, answers }: Surroundings,
): Promise<TemplateAnswers> {
  const lines = answers()[Symbol.asyncIterator]();
  let given: TemplateAnswers = {};
  try {
    for (const question of QUESTIONS) {
      if (question.answer === 'disk' && kind === 'all-in-one') continue;
      for (;;) {
        complain(`${question.text}:`);
        const line = await lines.next();
        if (line.done === true) throw noAnswer(question);
        const read = await judged(kind, given, question, line.value.trim());
        if ('answers' in read) {
          given = read.answers;
          break;
        }
        complain(`  ${read.problem}`);
      }
    }
    return given;
  } finally {
    await lines.return?.();
  }
}

const noAnswer = ({ text }: Question) =>
  new Failure(
    'usage',
    'standard input ended before every question was answered; nothing was written',
    {
      expected: text,
      fix: 'Answer in a terminal, or leave --ask out and fill in the file.',
    },
  );

async function judged(
  kind: HostKind,
  given: TemplateAnswers,
  { answer, field, isOptional, isFile }: Question,
  line: string,
): Promise<{ readonly answers: TemplateAnswers } | { readonly problem: string }> {
  if (line === '') return isOptional ? { answers: given } : { problem: 'An answer is needed.' };
  let text = line;
  try {
    if (isFile) text = (await readFile(line.replace(/^~(?=\/)/, homedir()), 'utf8')).trim();
  } catch {
    return { problem: `${line} cannot be read. Write the path of a file.` };
  }
  const answers = { ...given, [answer]: text };
  const read = readInstallSettings(installConfigTemplate(kind, answers), undefined, {
    writesDisk: kind === 'single-node',
  });
  const fault = read.ok ? undefined : read.faults.find((each) => isAt(each.field, field));
  if (fault === undefined) return { answers };
  return { problem: `Expected ${fault.expected}, found ${fault.found}. ${fault.fix}` };
}

const isAt = (found: string, field: string) =>
  found === field || found.startsWith(`${field}[`) || found.startsWith(`${field}.`);
