/* Instructions that do nothing, in front of all other code: linked first. */
#define TEXT(word) TEXT_OF(word)
#define TEXT_OF(word) #word

__asm__(".text\n.globl place_of_code\nplace_of_code:\n.rept " TEXT(PLACE_BYTES) "\nnop\n.endr");
