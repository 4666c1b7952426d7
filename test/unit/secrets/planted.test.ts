import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { isNameless, KINDS } from './kinds.ts';
import { MORE_PLACES } from './more-places.ts';
import { PLACES } from './places.ts';
import { SeededRandom } from './random.ts';
import { redacted } from './streams.ts';
import { traces } from './traces.ts';

// A lot of work, possibly on a busy machine.

t.test('secrets of all kinds are found in all places', async (t) => {
  const random = new SeededRandom(1);
  t.ok(KINDS.length >= 40 && PLACES.length >= 20);
  for (const place of [...PLACES, ...MORE_PLACES]) {
    const left: string[] = [];
    for (const kind of KINDS) {
      const planted = kind.make(random);
      const isTold =
        place.tells === 'place' ||
        (!isNameless(planted) && (kind.hasShape || place.tells === 'name'));
      const known = isTold ? [] : planted.secrets;
      const redactor = createRedactor(random.bytes(32), known);
      const text = place.write(planted.field, planted.value);
      const output = await redacted(redactor.text, Buffer.from(text));
      if (traces(output, planted.secrets).length === 0) continue;
      left.push(
        `${kind.name}${isTold ? '' : ', known'}: ${output.toString('utf8').slice(0, 2000)}`,
      );
    }
    t.strictSame(left, [], place.name);
  }
});
