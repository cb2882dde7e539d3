import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tenantsIn } from '../../src/sync/keys-file.ts'

describe('the file of --keys', () => {
  it('has a name and a key on each line; blank lines and comments are left out', () => {
    const text = '\ufeff# Agencies\r\n\r\nhill-and-co  pev_1\r\n\tabbey.lettings\tpev_2  \n'
    assert.deepEqual(tenantsIn(text, 'keys'), [
      { name: 'hill-and-co', key: 'pev_1' },
      { name: 'abbey.lettings', key: 'pev_2' },
    ])
  })

  it('is refused with every wrong line named, and no key repeated', () => {
    const text =
      'hill pev_SECRET\npev_SECRET\nhill pev_SECRET2\nHill & Co pev_SECRET\n-x pev_SECRET\ny pev_SECRÉT\n'
    assert.throws(
      () => tenantsIn(text, 'keys'),
      ({ message }: Error) => {
        assert.deepEqual(message.split('\n'), [
          'keys:',
          'Line 2 has 1 words; a line is a name and a key.',
          'Line 3 has the name of line 1.',
          'Line 4 has 4 words; a line is a name and a key.',
          'Line 5: a name is 1 to 63 letters, digits and . _ -, and begins with a letter or a digit.',
          'Line 6: the key has characters that no key has.',
        ])
        return true
      },
    )
    assert.throws(() => tenantsIn('# nobody\n', 'keys'), /no line with a name and a key/)
    assert.throws(() => tenantsIn('x\n'.repeat(500), 'keys'), /And 490 more lines\.$/)
  })
})
