import type { Problem } from '../../base/errors/problem.ts';

/**
 * Why a text is not a valid URL of a machine config server. No user, no password:
 * the installed host's Ignition has a copy that everybody on the host can read, and
 * so do logs.
 */
export function machineConfigServerProblem(text: string): Problem | undefined {
  const expected = 'an https URL such as https://api-int.example.com:22623/config/master';
  const fix = 'Check scheme, host, port and path.';
  if (/[^!-~]|["'<>\\^`{|}]/.test(text) || !URL.canParse(text)) {
    return { expected, found: 'a string that is not a URL', fix };
  }
  const { protocol, username, password, hash } = new URL(text);
  if (protocol !== 'https:') {
    return {
      expected,
      found: `a URL of ${protocol.slice(0, -1)}`,
      fix: 'It requires TLS.',
    };
  }
  if (username !== '' || password !== '' || text.includes('@')) {
    return {
      expected,
      found: 'a user or password',
      fix: 'Remove it: the URL is visible in logs and files of the host.',
    };
  }
  if (hash !== '' || text.includes('#'))
    return { expected, found: 'a fragment', fix: 'Remove # and everything after it.' };
  return undefined;
}
