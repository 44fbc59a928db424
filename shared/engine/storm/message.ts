/**
 * The message of every call of a storm: a customer's letter to a bookshop, of any size, the same text for the same size. It is
 * prose to an estimate (three characters a token on the pessimistic side), and titles in capitals make it about as dense as the
 * calls that budgets fail on: 6,052 characters are 1,930 tokens with the system prompt, in the simulator's vocabulary.
 */
export const STORM_SYSTEM_PROMPT = 'You are the Bookstore assistant. Answer briefly.';

/** `characters` in UTF-16 units, at least 1. Ends with two questions that the letter answers itself, where there is room. */
export function stormMessage(characters: number): string {
  const room = characters - OPENING.length - QUESTIONS.length;
  if (room < 0) return (OPENING + letter(characters)).slice(0, characters);
  return OPENING + letter(room) + QUESTIONS;
}

const OPENING =
  'Hello, I read on your card that the last day for an order by post is the ninth of December, for all of Europe. ' +
  'It says too that the best way to pay is by card at the desk, or by a bank transfer.';

const QUESTIONS = '\n\nWhat is the last day for an order by post? What is the best way to pay?';

/** Short words, as in letters; titles in capitals, as a catalogue prints them. */
const SENTENCES = [
  ' Please add the first edition of SMOKE and STONE to the same box.',
  ' We also lost our guide to BIRDS and TREES, which was a gift from her.',
  ' She is fond of OCEAN STORIES and of old maps, so it is up to you.',
  ' Is there a price for ten copies of SEVEN TALES for the school?',
  ' My aunt gave us HOUSE OF GLASS last year, and it made us all laugh.',
  ' As for PAPER BOATS, he is six, and it may be a bit too long for him.',
  ' Last time one page of GREEN RIVER was torn, so look at it with care.',
  ' If the new CLOUD ALTAR is too big for the post, we can come by car.',
  ' I saw NIGHT TRAIN HOMEWARD on a low shelf, and I want it now.',
  ' Do you still have WINTER WHEEL, as a new or as a used one?',
  ' They had NORTH LIGHT and SOUTH COAST in the window, but both were sold out.',
  ' Could you keep the OTTER CREEK STORY for my son until Friday night?',
] as const;

function letter(characters: number): string {
  let text = '';
  for (let index = 0; text.length < characters; index += 1) text += SENTENCES[index % SENTENCES.length] ?? '';
  return text.slice(0, characters);
}
