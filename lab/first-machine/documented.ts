import { Failure } from '../../lib/base/errors/failure.ts';

/**
 * The line of a document's commands that begins with these words, as words. So what a reader types is what runs here: a
 * command that is no longer documented ends the run.
 */
export function documentedCommand(document: string, beginning: string): string[] {
  const commands = Array.from(document.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = '']) =>
    block.split('\n'),
  ).flat();
  const [line, second] = commands.filter((each) => each.startsWith(`${beginning} `));
  if (line !== undefined && second === undefined && /^[\w ./:=@,-]+$/.test(line)) {
    return line.trim().split(/ +/);
  }
  throw new Failure('fatal', `docs/first-machine.md has no one command "${beginning} ..."`, {
    expected: 'one line of words without quotes',
    found: line === undefined ? 'none' : [line, second].join(' '),
  });
}
