import t from 'tap';
import { shown, warningTexts } from '../../../../lib/clients/kube/warnings.ts';

t.test('the texts of Warning headers', async (t) => {
  for (const [header, texts] of [
    [['299 - "unknown field \\"spec.replica\\""'], ['unknown field "spec.replica"']],
    [
      ['299 - "a", 299 - "b"', '299 k8s "c" "Wed, 21 Oct 2026 07:28:00 GMT"'],
      ['a', 'b', 'c'],
    ],
    [
      ['299 - "a, 299 - \\\\"', '299 - "same"', '299 - "same"'],
      ['a, 299 - \\', 'same'],
    ],
    [['nothing', '299 - no quotes', ''], []],
    [['299 - "x\u001b[2J\ty\u202e"'], ['x\\u001b[2J y\\u202e']],
    [[`299 - "${'z'.repeat(900)}"`], [`${'z'.repeat(300)} …`]],
    [undefined, []],
  ] as const) {
    t.same(warningTexts(header), texts);
  }
  const many = Array.from({ length: 50 }, (_, at) => `299 - "w${at}"`);
  t.equal(warningTexts(many).length, 20);
});

t.test('one line that a terminal only shows', async (t) => {
  t.equal(shown('a\n  b\r\u0007'), 'a b \\u0007');
});
