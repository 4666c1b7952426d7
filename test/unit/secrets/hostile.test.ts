import t from 'tap';
import { HOSTILE_LINES } from '../../../lab/bundle/hostile-lines.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { redacted } from './streams.ts';

const SECRET = 'q9~W7x8z2k+L';
const redactor = createRedactor(Buffer.alloc(32, 1), [SECRET]);

// The runner's deadline is for all of them: each one used to take seconds or minutes, or ended with an error.
t.test('hostile lines neither stop the redaction nor hide the secret after them', async (t) => {
  for (const { name, text } of HOSTILE_LINES) {
    const input = Buffer.from(
      `first\n${text}\npassword=${SECRET}\n${'words '.repeat(20_000)}\nlast\n`,
    );
    const output = await redacted(redactor.text, input);
    t.notOk(output.includes(SECRET), name);
    t.ok(output.subarray(-500).toString().endsWith('\nlast\n'), `${name}: to the end`);
  }
});
