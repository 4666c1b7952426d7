import { executableMark } from '../../../lib/engine/agents/executable-mark.ts';
import { type ProgramOptions, programBytes } from '../payload/elf/program.ts';

/** What `sno` accepts as a sno-agents executable: a program's headers and the build's mark. */
export function agentsExecutable(options: ProgramOptions = {}, version = '0.1.0+test'): Buffer {
  return programBytes({ text: `${executableMark(version)}\n`, ...options });
}
