"""The words of the grammar, English and Chinese, by the concept they stand for.

The words of a concept are joined by |. An English phrase counts with all its inflections; the longest phrase wins.
"""

PHRASES = {
    # joins and small words
    "then": "then|and then|after that|afterwards|subsequently|followed by|然后|再|接着|接下来|之后|后|就|"
    "随后|而后|后再|并再",
    "and": "and|&|as well as|along with|plus also|和|与|及|以及|跟|并|并且|而且|同时",
    "order": "first|firstly|next|finally|lastly|首先|先|最后",
    "also": "also|please|now|kindly|just|immediately|could you|can you|would you|will you|i want you to|"
    "i want to|i need you to|i need to|i would like to|i'd like to|i'd like you to|help me|for me|"
    "请|请你|请帮我|帮我|帮忙|麻烦|麻烦你|我想|我要|我想要|一下|你|也|给我|一共|都|出来|了|吧|呢|"
    "吗|好吗|i'd like to know|i would like to know",
    "the": "the|a|an|of the|some|its own|this is|my|our|your|那个|这个|该|此|个|份|封|这份|那份|这些文件的",
    "it": "it|that|this|the result|result|results|the answer|the output|the outcome|that number|"
    "this number|that value|the value|"
    "this result|that result|the number|它|其|结果|所得结果|得数|答案|这个数|该数|这个结果|上述结果|"
    "该结果|此结果|那个结果",
    "them": "them|these|those|they|both|both of them|both results|the two results|both numbers|"
    "all of them|them all|the results|these results|"
    "the numbers|它们|它俩|这些|"
    "两者|二者|这些结果|这些数|全部结果|所有结果",
    "each": "each|every|each of|every one of|each one of|each one|for each|for every|each of them|"
    "each of these|each of those|"
    "each one of them|每个|每一个|各个|各|每份|每|分别|逐个|对每个|逐一",
    "all": "all|all of|all of the|所有|所有的|全部|全部的|任何",
    "obj": "把|将|对|对于|用|让",
    "poss": "的|'s|里的|中的|里面的|之",
    "to": "to|into|onto|as|in to|到|至|成|为|给|入|进|向|往|进去|去|作为|成为|命名为|名为",
    "from": "from|out of|off|从|自",
    "in": "in|inside|within|under|among|里|里面|中|内|下|之中|当中|在|于|上|之内",
    "of": "of",
    "by": "by|per",
    "with": "with|using|having|via|containing|which says|that says|saying|带|附带|包含|写着|内容是|内容为",
    "about": "about|on|regarding|concerning|for|关于|有关|对于关于",
    "what": "what is|what's|whats|what are|what does|how much is|how much are|how many is|tell me|show me|"
    "give me|what will be|is what|"
    "i want to know|let me know|告诉我|是多少|等于多少|等于几|多少|是几|有多少|得多少|为多少|有几个|几个|"
    "显示|等于|看看|是什么",
    "calc": "calculate|compute|evaluate|work out|figure out|determine|solve|计算|算|求|算出|求出|计算出|运算",
    ">": "大于|超过|多于|高于",
    "<": "小于|少于|低于",
    "if": "if|unless|when|whether|otherwise|else|while|until|如果|若|假如|否则|要是|除非|直到",
    "not": "not|don't|dont|do not|never|without|no|except|excluding|but not|but|不|不要|别|没有|除了|禁止|不得|但",
    # arithmetic
    "+": "plus|added to|increased by|加|加上|加了|再加|＋",
    "-": "minus|less|decreased by|reduced by|减|减去|减掉|减少|−|–|－",
    "*": "times|multiplied by|multiplied with|乘|乘以|乘上|×|·|＊",
    "/": "divided by|over|除以|÷|／",
    "mod": "mod|modulo|modulus|取余|取模|对取余",
    "**": "to the power of|to the power|raised to the power of|raised to|**|^|的幂",
    "nth power": "次方|次幂",
    "squared": "squared|²|的平方|平方",
    "cubed": "cubed|³|的立方|立方",
    "factorial": "factorial|factorial of|阶乘|的阶乘",
    "sqrt": "square root|square root of|sqrt|√|root of|的平方根|平方根|开方|开平方|算术平方根|的算术平方根",
    "cbrt": "cube root|cube root of|cubic root of|立方根|的立方根",
    "%": "percent|per cent|%|％|百分点",
    "百分之": "百分之",
    "half": "half|一半|的一半|半",
    "third": "third",
    "quarter": "quarter|四分之一",
    "fifth": "fifth",
    "tenth": "tenth",
    "分之": "分之",
    "倍": "倍",
    "sum": "的和|的总和|sum|total|sum up|add up|total up|sum of|total of|总和|之和|求和|合计|总计|总数|"
    "相加|加起来|总共",
    "product": "product|product of|之积|乘积|相乘|的积",
    "difference": "difference|difference between|difference of|之差|差值|相差|差|的差",
    "quotient": "quotient|quotient of|之商|商|的商",
    "average": "average|mean|average of|mean of|平均值|平均数|平均|均值",
    "remainder": "remainder|remainder of|余数|的余数",
    "abs": "absolute value|absolute value of|绝对值|的绝对值",
    "add": "add",
    "subtract": "subtract|take away|deduct",
    "multiply": "multiply",
    "divide": "divide",
    "double": "double|twice|翻倍|加倍|翻一番|乘二倍",
    "triple": "triple|treble|thrice",
    "halve": "halve|减半|折半",
    "square": "square",
    "cube": "cube",
    "increase": "increase|raise|grow|增加|提高",
    "decrease": "decrease|reduce|lower|降低",
    "negative": "negative|负",
    "round": "round|round off|rounded|rounded to|round to|四舍五入|四舍五入到|四舍五入取整|保留",
    "round up": "向上取整",
    "round down": "向下取整",
    "decimals": "decimals|decimal|decimal places|decimal place|places|位小数|小数位|小数",
    # documents and files
    "count": "count|count up|how many|number of|the number of|amount of|统计|数|数一数|计数",
    "words": "words|word|单词|字数|单词数|词数|单词数量|字|个单词|个字|词|字的数量|单词个数|字数是",
    "word count": "word count|wordcount|length in words|word total|word counts|number of words|"
    "the number of words|words count",
    "lines": "line|行数|行",
    "characters": "character|字符数|字符",
    "read": "read|open|view|print|display|show|look at|读|读取|读一下|打开|查看|阅读|读出|看一下",
    "search": "search|search for|look for|look up|find|find out|search the documents for|retrieve|google|"
    "搜索|查找|查询|找|找到|检索|搜|查|找出|查一下|搜一下",
    "documents": "document|doc|docs|文档|资料|文献|文档库",
    "summarise": "summarise|summarize|sum up in words|shorten|condense|总结|概括|概述|归纳",
    "summary": "summary|摘要|概要|小结",
    "sentences": "sentence|句|句话|个句子|句子",
    "translate": "translate|翻译|译",
    "translation": "translation|译文",
    "compare": "compare|longer than|shorter than|which has more words|which file has more words|"
    "which one has more words|"
    "which is longer|which is larger|which is bigger|which is greater|"
    "which one is longer|which file is longer|"
    "which is shorter|which is smaller|which file is shorter|比较|对比|比一比|哪个更长|哪个更大|哪个长|哪个大|谁更长",
    "list": "list|列出|列举|列|罗列",
    "listing": "file list|list of files|文件列表|列表|清单",
    "copy": "copy|make a copy of|create a copy of|duplicate|back up|backup|复制|拷贝|备份|抄",
    "write": "write|save|store|put|record|export|写|写入|写到|写进|保存|存|存入|存为|存成|写成|存到|存进|记录|写下来|"
    "保存到|保存为|另存为",
    "create": "create|make|generate|新建|创建|建立|生成",
    "compress": "compress|make a zip of|create a zip of|make an archive of|create an archive of|zip|"
    "archive|pack|zip up|pack up|压缩|打包|压缩成|打包成|压缩为|打包为",
    "send": "send|email|e-mail|发送|发|寄|寄送|转发|发给|发送给|寄给",
    "mail": "mail|an email|an e-mail|邮件|电子邮件|邮箱|电邮|一封邮件|发邮件|发电子邮件|发送邮件|写邮件",
    "subject": "subject|subject line|主题|标题|主题是|主题为|标题是|标题为",
    "body": "body|text body|message body|message|正文|正文是|正文为",
    "attach": "attach|attaching|attached|attachment|附件|附上|作为附件|附加|添加附件",
    "file": "file|文件|个文件|的文件",
    "folder": "folder|directory|文件夹|目录",
    "content": "content|text|内容|文本|文字|全文|文字内容|原文",
    "named": "called|named|titled|entitled|名叫|叫|叫做|名称为",
    "input": "input|inputs|输入|given",
}  # fmt: skip

LANGUAGES = {
    "English": "english|英语|英文", "Chinese": "chinese|中文|汉语|中国话|mandarin", "German": "german|德语|德文",
    "French": "french|法语|法文", "Spanish": "spanish|西班牙语|西班牙文", "Japanese": "japanese|日语|日文",
    "Italian": "italian|意大利语", "Portuguese": "portuguese|葡萄牙语", "Russian": "russian|俄语|俄文",
    "Korean": "korean|韩语|韩文", "Arabic": "arabic|阿拉伯语", "Dutch": "dutch|荷兰语", "Hindi": "hindi|印地语",
}  # fmt: skip
VERBS = {
    "what", "calc", "add", "subtract", "multiply", "divide", "double", "triple", "halve", "square", "cube", "increase",
    "decrease", "round", "round up", "round down", "count", "read", "search", "summarise", "translate", "compare",
    "list", "copy", "write", "create", "compress", "send", "mail", "sum", "average", "if", "not",
}  # fmt: skip
OPERATORS = {"+", "-", "*", "/", "mod", "**", "squared", "cubed"}
